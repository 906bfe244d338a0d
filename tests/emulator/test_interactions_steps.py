"""What becomes of native answers: forms that scripts do not play, and recorded ones."""

from pathlib import Path
from typing import Any

import orjson
from google.genai import interactions as forms

from sessions_app.emulator.interactions_requests import InteractionStep
from sessions_app.emulator.interactions_steps import InteractionAnswer, read_answer
from sessions_app.emulator.interactions_tools import tool_parts
from tests.emulator.helpers import Wire
from tests.emulator.interaction_helpers import known


def chunk(*parts: Wire, **candidate: Any) -> Wire:
    content = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    return {"candidates": [content | candidate], "responseId": "r", "usageMetadata": {}}


def read(*chunks: Wire) -> InteractionAnswer:
    answer = read_answer(chunks)
    known(forms.Interaction.model_validate({"status": answer.status, "steps": plain(answer.steps)}))
    return answer


def plain(steps: list[Wire]) -> list[Wire]:
    """Without what the client has no field for: a call's own signature, seen in answers of October 2026."""
    return [
        {key: step[key] for key in step if step["type"] != "function_call" or key != "signature"}
        for step in steps
    ]


def call(name: str, signature: str = "", **more: Any) -> Wire:
    return {"functionCall": {"name": name, "args": {}} | more} | (
        {"thoughtSignature": signature} if signature else {}
    )


def test_calls_without_an_id_get_one_each() -> None:
    steps = read(chunk(call("f"), call("g"), finishReason="STOP")).steps
    assert len({step["id"] for step in steps}) == 2


def test_only_the_first_signature_moves_to_the_thought() -> None:
    thought, first, second = read(chunk(call("f", "one"), call("g", "two"), finishReason="STOP")).steps
    assert thought["signature"] == "one" and second["signature"] == "two" and "signature" not in first


def test_a_signature_behind_the_text_comes_before_it() -> None:
    answer = read(chunk({"text": "a"}), chunk({"text": "", "thoughtSignature": "s"}, finishReason="STOP"))
    assert [step["type"] for step in answer.steps] == ["thought", "model_output"]
    assert answer.steps[0]["signature"] == "s"


def test_tools_of_the_provider_keep_their_signature_and_come_back_as_parts() -> None:
    asked = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "t", "args": {"queries": ["q"]}}}
    told = {
        "toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "t", "response": {"search_suggestions": "h"}}
    }
    signed = [part | {"thoughtSignature": "s"} for part in (asked, told)]
    made, found, _ = read(chunk(*signed, {"text": "x"}, finishReason="STOP")).steps
    assert made == {
        "type": "google_search_call",
        "id": "t",
        "arguments": {"queries": ["q"]},
        "signature": "s",
    }
    assert (found["call_id"], found["result"]) == ("t", [{"search_suggestions": "h"}])
    parts = [tool_parts(InteractionStep.model_validate(step))[0] for step in (made, found)]
    assert parts[0]["toolCall"]["args"] == {"queries": ["q"]}
    assert parts[1]["toolResponse"]["response"] == {"search_suggestions": "h"}


def test_a_search_in_the_metadata_comes_behind_the_cited_text() -> None:
    grounding = {
        "searchEntryPoint": {"renderedContent": "html"},
        "groundingChunks": [{"web": {"uri": "https://example.com", "title": "example"}}],
        "groundingSupports": [{"segment": {"endIndex": 3}, "groundingChunkIndices": [0]}],
        "webSearchQueries": ["q"],
    }
    output, made, found = read(chunk({"text": "abc"}, finishReason="STOP", groundingMetadata=grounding)).steps
    assert output["content"][0]["annotations"] == [
        {
            "type": "url_citation",
            "url": "https://example.com",
            "title": "example",
            "start_index": 0,
            "end_index": 3,
        }
    ]
    assert made["arguments"] == {"queries": ["q"]} and found["call_id"] == made["id"]
    assert found["result"] == [{"search_suggestions": "html"}]
    assert tool_parts(InteractionStep.model_validate(made)) == []


def test_pages_in_the_metadata_are_a_call_and_its_result() -> None:
    pages = {
        "urlMetadata": [
            {"retrievedUrl": "https://a.example", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}
        ]
    }
    _, made, found = read(chunk({"text": "x"}, finishReason="STOP", urlContextMetadata=pages)).steps
    assert made["arguments"] == {"urls": ["https://a.example"]}
    assert found["result"] == [{"url": "https://a.example", "status": "success"}]


def test_a_file_search_has_neither_arguments_nor_result() -> None:
    parts = [{key: {"toolType": "FILE_SEARCH", "id": "t"}} for key in ("toolCall", "toolResponse")]
    assert read(chunk(*parts, finishReason="STOP")).steps == [
        {"type": "file_search_call", "id": "t"},
        {"type": "file_search_result", "call_id": "t"},
    ]


def test_every_recorded_answer_becomes_steps_that_the_client_knows(recordings: Path) -> None:
    """All text, every call and the signature of every call and tool are in them."""
    seen = 0
    for path in sorted(recordings.glob("*.json")):
        for exchange in orjson.loads(path.read_bytes())["exchanges"]:
            chunks = exchange.get("response_chunks") or []
            if not chunks or "enerateContent" not in str(exchange.get("endpoint")):
                continue
            if not all(is_answer(one) for one in chunks):
                continue
            check(chunks, read(*chunks))
            seen += 1
    assert seen > 50


def is_answer(one: Any) -> bool:
    """False for an error, and for what a client has dumped with numbers for enums."""
    candidates = (
        one.get("candidates", []) if isinstance(one, dict) and "error" not in one else [{"finishReason": 0}]
    )
    return not any(isinstance(candidate.get("finishReason"), int) for candidate in candidates)


def check(chunks: list[Wire], answer: InteractionAnswer) -> None:
    parts = [
        part
        for one in chunks
        for part in (one.get("candidates") or [{}])[0].get("content", {}).get("parts", [])
    ]
    told = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    contents = [content for step in answer.steps for content in step.get("content", [])]
    assert "".join(content.get("text", "") for content in contents) == told
    made = [step["name"] for step in answer.steps if step["type"] == "function_call"]
    assert made == [part["functionCall"].get("name", "") for part in parts if "functionCall" in part]
    signed = {step["signature"] for step in answer.steps if step.get("signature")}
    given = [part for part in parts if part.get("thoughtSignature")]
    assert signed <= {part["thoughtSignature"] for part in given} and bool(signed) == bool(given)
    assert signed >= {part["thoughtSignature"] for part in given if not {"text", "inlineData"} & set(part)}
