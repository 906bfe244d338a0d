"""Search, code execution and URL context: when they are used, and the form of the answer.

The forms are those of the recordings, named in the table of the emulator's README.
"""

from itertools import pairwise
from typing import Any

import orjson
import pytest
from google.genai import types
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator
from tests.emulator.helpers import (
    FLASH,
    OPENING,
    Wire,
    answers,
    declare,
    generate,
    model,
    parts,
    refusal,
    send,
    stream,
    text_of,
    user,
)

OLDER = "gemini-2.5-flash"
SEARCH: Wire = {"googleSearch": {}}
CODE: Wire = {"codeExecution": {}}
PAGES: Wire = {"urlContext": {}}
SHOWN = {"includeServerSideToolInvocations": True}
MEXICO = "Search the web for the largest city in Mexico."


def ask(text: str, *tools: Wire, **more: Any) -> Wire:
    return {"contents": [user(text)], "tools": list(tools), **more}


def kinds(chunk: Wire) -> list[str]:
    """What each part of a chunk holds, without its signature."""
    found = (set(part) - {"thoughtSignature", "thought"} for part in parts(chunk))
    return [
        "thought" if part.get("thought") else "".join(kind)
        for kind, part in zip(found, parts(chunk), strict=True)
    ]


def last(chunks: list[Wire]) -> Wire:
    found: Wire = chunks[-1]["candidates"][0]
    return found


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("What is in the news today?", "What is in the news today"),
        ("Which bees are rare right now?", "Which bees are rare right now"),
        ("What is honey?", ""),
    ],
)
def test_what_a_model_cannot_know_is_searched_for(emulator: Emulator, text: str, query: str) -> None:
    found = last(stream(emulator, ask(text, SEARCH))).get("groundingMetadata", {})
    assert found.get("webSearchQueries", []) == ([query] if query else [])


def test_a_full_stop_behind_arithmetic_is_no_fraction(emulator: Emulator) -> None:
    chunks = stream(emulator, ask("Compute 6*7.", CODE))
    found = [part.get("codeExecutionResult") for chunk in chunks for part in parts(chunk)]
    assert [one["output"] for one in found if one] == ["42\n"]


@pytest.mark.parametrize("asked", [FLASH, OLDER])
def test_a_search_grounds_the_answer(emulator: Emulator, asked: str) -> None:
    chunks = stream(emulator, ask(MEXICO, SEARCH), asked)
    found, text = last(chunks)["groundingMetadata"], text_of(chunks)
    assert list(found) == ["searchEntryPoint", "groundingChunks", "groundingSupports", "webSearchQueries"]
    assert found["webSearchQueries"] == ["the largest city in Mexico"]
    assert "the largest city in Mexico</a>" in found["searchEntryPoint"]["renderedContent"]
    assert [source["web"]["title"] for source in found["groundingChunks"]] == ["example.com", "example.org"]
    for support in found["groundingSupports"]:
        segment = support["segment"]
        assert text.encode()[segment.get("startIndex", 0) : segment["endIndex"]].decode() == segment["text"]
        assert support["groundingChunkIndices"][0] < len(found["groundingChunks"])
    assert "startIndex" not in found["groundingSupports"][0]["segment"]


def test_a_unary_answer_has_the_same_grounding(emulator: Emulator) -> None:
    whole, chunks = generate(emulator, ask(MEXICO, SEARCH)), stream(emulator, ask(MEXICO, SEARCH))
    assert whole["candidates"][0]["groundingMetadata"] == last(chunks)["groundingMetadata"]
    assert list(whole["candidates"][0]) == ["content", "finishReason", "index", "groundingMetadata"]


def test_gemini_3_shows_invocations_on_request_as_signed_parts(emulator: Emulator) -> None:
    chunks = stream(emulator, ask(MEXICO, SEARCH, toolConfig=SHOWN))
    (called,), (responded,) = parts(chunks[0]), parts(chunks[1])
    assert list(called) == ["thoughtSignature", "toolCall"] and list(responded) == [
        "thoughtSignature",
        "toolResponse",
    ]
    assert list(called["toolCall"]) == ["toolType", "args", "id"]
    assert called["toolCall"]["toolType"] == responded["toolResponse"]["toolType"] == "GOOGLE_SEARCH_WEB"
    assert called["toolCall"]["id"] == responded["toolResponse"]["id"]
    assert called["toolCall"]["args"] == {"queries": ["the largest city in Mexico"]}
    assert list(responded["toolResponse"]["response"]) == ["search_suggestions"]
    assert called["thoughtSignature"] != responded["thoughtSignature"]
    assert "index" in chunks[0]["candidates"][0] and "index" not in chunks[1]["candidates"][0]


@pytest.mark.parametrize(("asked", "config"), [(FLASH, {}), (OLDER, SHOWN)])
def test_otherwise_a_search_leaves_no_parts(emulator: Emulator, asked: str, config: Wire) -> None:
    chunks = stream(emulator, ask(MEXICO, SEARCH, toolConfig=config), asked)
    assert {kind for chunk in chunks for kind in kinds(chunk)} == {"text"}


@pytest.mark.parametrize("asked", [FLASH, OLDER])
def test_code_is_shown_with_its_result(emulator: Emulator, asked: str) -> None:
    whole = generate(emulator, ask("compute 2*(3+4)", CODE), asked)
    assert kinds(whole) == ["executableCode", "codeExecutionResult", "text"]
    code, result, _ = parts(whole)
    assert code["executableCode"]["code"] == "result = 2*(3+4)\nprint(result)\n"
    assert (result["codeExecutionResult"]["outcome"], result["codeExecutionResult"]["output"]) == (
        "OUTCOME_OK",
        "14\n",
    )
    assert ("thoughtSignature" in code, "id" in code["executableCode"]) == (asked == FLASH,) * 2
    assert code["executableCode"].get("id") == result["codeExecutionResult"].get("id")
    assert "thoughtSignature" not in result and "**14**" in text_of([whole])


def test_streamed_code_has_a_chunk_for_each_part(emulator: Emulator) -> None:
    for asked in (FLASH, OLDER):
        chunks = stream(emulator, ask("compute 2*(3+4)", CODE), asked)
        assert [kinds(chunk) for chunk in chunks[:3]] == [
            ["executableCode"],
            ["codeExecutionResult"],
            ["text"],
        ]
        assert ("index" in chunks[1]["candidates"][0]) == (asked == OLDER)


@pytest.mark.parametrize(
    ("expression", "output"),
    [
        ("65465-6544 * 65464-6+1.02255", "-428330955.97745\n"),
        ("1/0", "ZeroDivisionError: division by zero\n"),
        ("9**9**9**9", "OverflowError: the result is too large\n"),
        ("((9**400)**400)", "OverflowError: the result is too large\n"),
        ("2 (3+4)", "TypeError: the expression is not arithmetic\n"),
    ],
)
def test_what_code_printed_is_what_arithmetic_gives(emulator: Emulator, expression: str, output: str) -> None:
    whole = generate(emulator, ask(f"What is {expression}?", CODE))
    result = parts(whole)[1]["codeExecutionResult"]
    assert result["output"] == output
    assert result["outcome"] == ("OUTCOME_OK" if output[0] == "-" else "OUTCOME_FAILED")


def test_pages_named_in_the_text_are_retrieved(emulator: Emulator) -> None:
    text = "Compare https://example.com/a, http://gone.invalid/b and https://example.com/a."
    chunks = stream(emulator, ask(text, PAGES), OLDER)
    first, end = chunks[0]["candidates"][0], last(chunks)
    assert first["urlContextMetadata"]["urlMetadata"] == [
        {"retrievedUrl": "https://example.com/a", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
        {"retrievedUrl": "http://gone.invalid/b", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"},
    ]
    assert list(end["groundingMetadata"]) == ["groundingChunks", "groundingSupports"]
    assert end["groundingMetadata"]["groundingChunks"] == [
        {"web": {"uri": "https://example.com/a", "title": "example.com"}}
    ]
    assert len(chunks) == 1 or "urlContextMetadata" not in end


def test_gemini_2_5_has_empty_grounding_before_the_last_chunk(emulator: Emulator) -> None:
    body = ask(f"{MEXICO} {'x' * 400}", SEARCH)
    *before, _ = (chunk["candidates"][0] for chunk in stream(emulator, body, OLDER))
    assert before and all(candidate["groundingMetadata"] == {} for candidate in before)
    *before, _ = (chunk["candidates"][0] for chunk in stream(emulator, body))
    assert before and not any("groundingMetadata" in candidate for candidate in before)


def test_shown_thoughts_stand_before_each_step(emulator: Emulator) -> None:
    config = {"thinkingConfig": {"includeThoughts": True}}
    body = ask(MEXICO, SEARCH, toolConfig=SHOWN, generationConfig=config)
    whole = generate(emulator, body)
    assert kinds(whole) == ["thought", "toolCall", "toolResponse", "thought", "text"]
    streamed = [kind for chunk in stream(emulator, body) for kind in kinds(chunk)]
    assert [one for one, other in pairwise([*streamed, ""]) if one != other] == kinds(whole)
    assert kinds(generate(emulator, ask("compute 2+2", CODE, generationConfig=config), OLDER)) == [
        *("thought", "executableCode", "codeExecutionResult", "text")
    ]


def test_several_tools_can_serve_one_answer(emulator: Emulator) -> None:
    whole = generate(
        emulator, ask(f"compute 2+2 and read https://example.com/. {MEXICO}", SEARCH, CODE, PAGES)
    )
    assert kinds(whole) == ["executableCode", "codeExecutionResult", "text"]
    assert len(whole["candidates"][0]["groundingMetadata"]["groundingChunks"]) == 3
    assert "urlContextMetadata" in whole["candidates"][0]


@pytest.mark.parametrize("tool", [SEARCH, CODE, PAGES])
def test_a_text_that_calls_for_no_tool_is_answered_without(emulator: Emulator, tool: Wire) -> None:
    chunks = stream(emulator, ask("hello", tool))
    assert OPENING in text_of(chunks) and "groundingMetadata" not in last(chunks)
    assert not any("toolUsePromptTokenCount" in chunk["usageMetadata"] for chunk in chunks)


def test_a_declared_tool_is_named_with_what_calls_for_it(emulator: Emulator) -> None:
    said = text_of(stream(emulator, ask("hello", SEARCH, {"fileSearch": {}}, {"googleMaps": {}})))
    assert "`search for the largest city in Mexico`" in said
    assert "file_search, google_maps" in said


def test_without_its_declaration_no_tool_is_used(emulator: Emulator) -> None:
    for text in (MEXICO, "compute 2+2", "see https://example.com/"):
        assert OPENING in text_of(stream(emulator, {"contents": [user(text)]}))


def test_the_phrase_of_a_declared_function_calls_the_function(emulator: Emulator) -> None:
    body = ask("calculate 2*(3+4)", *declare(calculate=["expression"]), CODE, toolConfig=SHOWN)
    assert kinds(generate(emulator, body)) == ["functionCall"]


def test_tools_of_a_cache_are_used(emulator: Emulator) -> None:
    made = {"model": f"models/{FLASH}", "contents": [user("a" * 4_000)], "tools": [SEARCH]}
    name = orjson.loads(send(emulator, "POST", "cachedContents", made)[1])["name"]
    reply = generate(emulator, {"contents": [user(MEXICO)], "cachedContent": name})
    assert "groundingMetadata" in reply["candidates"][0]


@pytest.mark.parametrize("text", [MEXICO, "compute 2+2"])
def test_what_a_tool_left_goes_back_and_is_accepted(emulator: Emulator, text: str) -> None:
    tools = [SEARCH, CODE, *declare(f=[])]
    said = parts(generate(emulator, ask(text, *tools, toolConfig=SHOWN)))
    body: Wire = {"contents": [user(text), model(*said), user("thanks")], "tools": tools, "toolConfig": SHOWN}
    assert not refusal(emulator, body)


def test_an_altered_signature_of_a_tool_call_is_refused(emulator: Emulator) -> None:
    tools = [SEARCH, *declare(f=[])]
    said = parts(generate(emulator, ask(MEXICO, *tools, toolConfig=SHOWN)))
    asked = parts(
        generate(
            emulator, ask("hello", *tools, toolConfig={**SHOWN, "functionCallingConfig": {"mode": "ANY"}})
        )
    )
    said[0]["thoughtSignature"] = "QUFB"
    contents = [user("hello"), model(*asked, *said[:2]), answers(("f", {}))]
    body: Wire = {"contents": contents, "tools": tools, "toolConfig": SHOWN}
    assert refusal(emulator, body) == "Corrupted thought signature."


def test_a_schema_and_a_token_limit_still_hold(emulator: Emulator) -> None:
    schema = {
        "responseMimeType": "application/json",
        "responseSchema": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}},
    }
    chunks = stream(emulator, ask(MEXICO, SEARCH, generationConfig=schema))
    supports = last(chunks)["groundingMetadata"]["groundingSupports"]
    assert text_of(chunks).startswith("{") and supports[0]["segment"]["endIndex"] == len(text_of(chunks))
    cut = stream(emulator, ask(MEXICO, SEARCH, generationConfig={"maxOutputTokens": 1}))
    assert last(cut)["finishReason"] == "MAX_TOKENS"


async def test_the_sdk_reads_all_of_it(sdk: AsyncClient) -> None:
    tools = [
        types.Tool(google_search=types.GoogleSearch()),
        types.Tool(code_execution=types.ToolCodeExecution()),
        types.Tool(url_context=types.UrlContext()),
    ]
    config = types.GenerateContentConfig(
        tools=tools, tool_config=types.ToolConfig(include_server_side_tool_invocations=True)
    )
    text = f"compute 2+2, see https://example.com/ and {MEXICO}"
    reply = await sdk.models.generate_content(model=FLASH, contents=text, config=config)
    assert reply.candidates and reply.candidates[0].grounding_metadata
    assert reply.candidates[0].url_context_metadata
    assert reply.executable_code and (reply.code_execution_result or "").strip() == "4"
    content = reply.candidates[0].content
    again = await sdk.models.generate_content(model=FLASH, contents=[text, content, "thanks"], config=config)
    assert again.text
