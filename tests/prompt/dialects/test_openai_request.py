"""Chat completion requests; signature places are those of seed 2's OpenAI chapter."""

from typing import Any

import orjson
import pytest

from sessions_app.prompt.dialects.openai import openai_request
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from sessions_app.prompt.wire import dumps
from tests.prompt.examples import TOOL_LOOP, answer, answers, call, calling, content, text
from tests.prompt.renditions.examples import FLIGHT

Wire = dict[str, Any]


def told(*contents: bytes | Turn, **fields: Any) -> Wire:
    """The chat completion request made of these contents."""
    wires = [orjson.loads(one.wire if isinstance(one, Turn) else one) for one in contents]
    request: Wire = orjson.loads(openai_request("models/m", dumps({"contents": wires, **fields})))
    return request


def messages(*contents: bytes | Turn) -> list[Wire]:
    found: list[Wire] = told(*contents)["messages"]
    return found


def signature(carrier: Wire) -> str:
    found: str = carrier.get("extra_content", {}).get("google", {}).get("thought_signature", "")
    return found


def test_parallel_calls_are_one_message_and_only_the_first_is_signed() -> None:
    _, asking, *answering = messages(*TOOL_LOOP)
    assert [bool(signature(one)) for one in asking["tool_calls"]] == [True, False]
    assert not signature(asking) and "content" not in asking
    ids = [one["id"] for one in asking["tool_calls"]]
    assert [(one["role"], one["tool_call_id"]) for one in answering] == [("tool", ids[0]), ("tool", ids[1])]


def test_every_sequential_step_keeps_its_own_signature() -> None:
    steps = [
        calling("1", call("f", "QUFB")),
        answers("2", "f"),
        calling("3", call("g", "QkJC")),
        answers("4", "g"),
    ]
    found = messages(user_task("0", "Go"), *steps)
    assert [signature(one["tool_calls"][0]) for one in found if "tool_calls" in one] == ["QUFB", "QkJC"]


def test_the_signature_of_a_text_is_the_messages() -> None:
    signed = content("model", text("Late"), text("", thoughtSignature="QUFB"))
    assert messages(signed) == [
        {
            "role": "assistant",
            "content": "Late",
            "extra_content": {"google": {"thought_signature": "QUFB"}},
        }
    ]


def test_text_and_calls_of_one_content_are_one_message_with_both_signatures() -> None:
    (found,) = messages(content("model", text("I look.", thoughtSignature="QUFB"), call("f", "QkJC")))
    assert (found["content"], signature(found), signature(found["tool_calls"][0])) == (
        "I look.",
        "QUFB",
        "QkJC",
    )


def test_text_beside_answers_is_not_lost() -> None:
    response = {"functionResponse": {"name": "f", "response": {"a": 1}}}
    found = messages(calling("1", call("f")), content("user", response, text("And now?")))
    assert [one["role"] for one in found] == ["assistant", "tool", "user"]
    assert found[1]["content"] == '{"a":1}' and found[2]["content"] == "And now?"


def test_a_tool_message_names_its_function() -> None:
    assert messages(calling("1", call("f")), answers("2", "f"))[1]["name"] == "f"


def test_thoughts_are_not_sent_back_as_text() -> None:
    assert messages(content("model", text("Hm", thought=True), text("Yes")))[0]["content"] == "Yes"


def test_two_layers_of_text_stay_two_parts() -> None:
    (found,) = messages(content("user", text("static"), text("dynamic")))
    assert found["content"] == [{"type": "text", "text": "static"}, {"type": "text", "text": "dynamic"}]


@pytest.mark.parametrize(
    ("mime", "part"),
    [
        ("image/png", {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}),
        ("audio/mpeg", {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "mp3"}}),
        ("application/pdf", {"type": "file", "file": {"file_data": "data:application/pdf;base64,QQ=="}}),
    ],
)
def test_files_take_the_form_of_their_kind(mime: str, part: Wire) -> None:
    (found,) = messages(content("user", {"inlineData": {"mimeType": mime, "data": "QQ=="}}))
    assert found["content"] == [part]


@pytest.mark.parametrize(
    ("mime", "kind", "key"), [("image/png", "image_url", "url"), ("audio/mpeg", "file", "file_data")]
)
def test_a_file_of_the_provider_is_named_by_its_address(mime: str, kind: str, key: str) -> None:
    stored = {"mimeType": mime, "fileUri": "https://files.example/1"}
    (found,) = messages(content("user", {"fileData": stored}))
    assert found["content"] == [{"type": kind, kind: {key: "https://files.example/1"}}]


def test_it_asks_for_a_stream_with_usage_from_the_bare_model() -> None:
    request = told(user_task("1", "Hi"))
    assert (request["model"], request["stream"]) == ("m", True)
    assert request["stream_options"] == {"include_usage": True}


def test_tools_and_configuration_are_told_in_its_words() -> None:
    thinking = {"includeThoughts": True, "thinkingBudget": 100}
    config = {
        "temperature": 0,
        "maxOutputTokens": 9,
        "topP": 0.5,
        "stopSequences": ["x"],
        "thinkingConfig": thinking,
    }
    request = told(user_task("1", "Hi"), tools=[{"functionDeclarations": [FLIGHT]}], generationConfig=config)
    assert request["tools"][0]["function"]["parameters"]["type"] == "object"
    assert (request["temperature"], request["max_completion_tokens"]) == (0, 9)
    assert (request["top_p"], request["stop"]) == (0.5, ["x"])
    google = request["extra_body"]["google"]
    assert google == {"thinking_config": {"include_thoughts": True, "thinking_budget": 100}}


def test_without_thinking_and_cache_there_is_nothing_of_googles() -> None:
    assert told(content("user", text("Hi")), generationConfig={"temperature": 0.5}).keys() == {
        *("model", "messages", "temperature", "stream", "stream_options")
    }


def test_a_system_instruction_is_the_first_message() -> None:
    request = told(user_task("1", "Hi"), systemInstruction={"parts": [{"text": "Be brief."}]})
    assert request["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_cache_that_is_named_stays_named() -> None:
    request = told(user_task("1", "Hi"), cachedContent="cachedContents/a")
    assert request["extra_body"] == {"google": {"cached_content": "cachedContents/a"}}


def test_a_turn_of_nothing_but_a_signature_is_still_sent() -> None:
    (found,) = messages(Turn("1", TurnKind.MODEL_RESPONSE, answer("1", "", signature="QUFB").wire))
    assert (found["content"], signature(found)) == ("", "QUFB")


def test_a_longer_history_begins_with_the_bytes_of_the_shorter_one() -> None:
    shorter, longer = (
        dumps(messages(*TOOL_LOOP, *more))[:-1] for more in ((), (answer("5"), user_task("6", "And Rome?")))
    )
    assert longer.startswith(shorter)
