import base64

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.wire_model import decode_bytes, parse
from tests.emulator.helpers import generate, send, user

CAMEL = {
    "contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "+/8="}}]}],
    "generationConfig": {"thinkingConfig": {"includeThoughts": True}, "maxOutputTokens": 9, "topK": 40.0},
    "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]}],
}
SNAKE = {
    "contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": "-_8"}}]}],
    "generation_config": {
        "thinking_config": {"include_thoughts": True},
        "max_output_tokens": "9",
        "top_k": 40,
    },
    "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": {"type": "object"}}]}],
}


def test_both_spellings_say_the_same() -> None:
    assert parse(GenerateRequest, orjson.dumps(CAMEL)) == parse(GenerateRequest, orjson.dumps(SNAKE))


def test_one_object_stands_for_a_list_of_one() -> None:
    single = parse(GenerateRequest, orjson.dumps({"contents": {"parts": {"text": "a"}}}))
    assert single == parse(GenerateRequest, orjson.dumps({"contents": [{"parts": [{"text": "a"}]}]}))


@given(data=st.binary(), padded=st.booleans(), url_safe=st.booleans())
def test_bytes_come_in_either_alphabet(data: bytes, padded: bool, url_safe: bool) -> None:
    text = (base64.urlsafe_b64encode if url_safe else base64.b64encode)(data).decode()
    assert decode_bytes(text if padded else text.rstrip("=")) == data


def test_an_unknown_top_level_field_is_refused(emulator: Emulator) -> None:
    error = generate(emulator, {"contents": [user("a")], "bogus": 1})["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["message"] == 'Invalid JSON payload received. Unknown name "bogus": Cannot find field.'
    assert error["details"][0]["@type"] == "type.googleapis.com/google.rpc.BadRequest"


def test_an_unknown_inner_field_is_refused_with_its_path() -> None:
    body = {"tools": [{"functionDeclarations": [{"name": "f"}, {"name": "g", "bogus": 1}]}]}
    with pytest.raises(
        ApiError, match=r"\"bogus\" at 'tools\[0\].function_declarations\[1\]': Cannot find field"
    ):
        parse(GenerateRequest, orjson.dumps(body))


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b'{"contents": 1}', b'{"contents": [1]}'])
def test_what_is_not_a_request_is_a_400(emulator: Emulator, body: bytes) -> None:
    status, answer = send(emulator, "POST", "models/gemini-3-flash-preview:generateContent", body)
    assert status == 400
    assert orjson.loads(answer)["error"]["status"] == "INVALID_ARGUMENT"
