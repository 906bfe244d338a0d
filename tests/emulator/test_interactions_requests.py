"""Which requests are refused, and in which form."""

from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from tests.emulator.helpers import send
from tests.emulator.interaction_helpers import TOOLS, ask, create, refusal, text_of

HELLO = {"type": "text", "text": "hello"}
STEP = {"type": "user_input", "content": [HELLO]}


@pytest.mark.parametrize("asked", ["hello", HELLO, [HELLO], [STEP], STEP])
def test_every_form_of_input_is_the_same_input(emulator: Emulator, asked: Any) -> None:
    assert text_of(create(emulator, asked)) == text_of(create(Emulator(delay=0), "hello"))


def test_images_count_as_images(emulator: Emulator) -> None:
    image = {"type": "image", "data": "aGk=", "mime_type": "image/png"}
    counted = create(emulator, [HELLO, image])["usage"]["input_tokens_by_modality"]
    assert [each["modality"] for each in counted] == ["text", "image"]


@pytest.mark.parametrize("field", ["top_k", "candidate_count", "thinking_budget"])
def test_unknown_parameters_are_named(emulator: Emulator, field: str) -> None:
    assert refusal(emulator, generation_config={field: 1}) == (400, "parameter_unknown")
    message = ask(emulator, input="hi", generation_config={field: 1})["error"]["message"]
    assert field in message and "generation_config" in message


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"systemInstruction": "x"}, (400, "parameter_unknown")),
        ({"tools": [TOOLS[0] | {"strict": True}]}, (400, "parameter_unknown")),
        ({"input": None}, (400, "invalid_request")),
        ({"input": []}, (400, "invalid_request")),
        ({"input": [{"type": "zork"}]}, (400, "invalid_request")),
        ({"input": [STEP | {"content": [{"type": "smell"}]}]}, (400, "invalid_request")),
        ({"input": [{"type": "function_result", "call_id": "x", "result": "y"}]}, (400, "invalid_request")),
        ({"input": [{"type": "function_result", "call_id": "x"}]}, (400, "invalid_request")),
        ({"input": [{"type": "function_call", "arguments": {}}]}, (400, "invalid_request")),
        (
            {"input": [{"type": "function_result", "call_id": "x", "result": [{"type": "smell"}]}]},
            (400, "invalid_request"),
        ),
        ({"agent": "deep-research"}, (400, "invalid_request")),
        ({"model": ""}, (400, "invalid_request")),
        ({"model": "", "agent": "deep-research"}, (404, "not_found")),
        ({"model": "gemini-none"}, (404, "model_not_found")),
        ({"background": True, "store": False}, (400, "invalid_request")),
        ({"cached_content": "cachedContents/x"}, (400, "invalid_request")),
        ({"generation_config": {"thinking_level": "endless"}}, (400, "invalid_request")),
        ({"generation_config": {"tool_choice": "perhaps"}, "tools": TOOLS}, (400, "invalid_request")),
        ({"generation_config": {"temperature": 9}}, (400, "invalid_request")),
        ({"tools": [{"type": "mcp_server", "url": "http://x"}]}, (501, "unimplemented")),
        ({"response_format": {"type": "image"}}, (501, "unimplemented")),
        ({"webhook_config": {"uri": "x"}}, (501, "unimplemented")),
        ({"continuation_token": "AAAA"}, (400, "invalid_request")),
        ({"input": "/error 429"}, (429, "rate_limit_exceeded")),
        ({"input": "/error 500"}, (500, "api_error")),
    ],
)
def test_a_wrong_request_has_a_status_and_a_code(
    emulator: Emulator, change: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert refusal(emulator, **change) == expected


def test_the_turns_of_2025_are_refused_in_googles_words(emulator: Emulator) -> None:
    error = ask(emulator, input=[{"role": "user", "content": "hi"}])["error"]
    assert error["code"] == "invalid_request" and error["message"].startswith("The legacy Interactions API")


@pytest.mark.parametrize(("key", "status"), [("", 403), ("invalid", 400)])
def test_a_wrong_key_is_refused_as_an_array(emulator: Emulator, key: str, status: int) -> None:
    body = {"model": "gemini-3-flash-preview", "input": "hi", "stream": True}
    got, raw = send(emulator, "POST", "interactions", body, key=key)
    (error,) = orjson.loads(raw)
    assert got == status == error["error"]["code"]


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"'])
def test_what_is_no_object_is_refused(emulator: Emulator, body: bytes) -> None:
    status, raw = send(emulator, "POST", "interactions", body)
    assert (status, orjson.loads(raw)["error"]["code"]) == (400, "invalid_request")
