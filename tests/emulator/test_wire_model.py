import base64
import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.signer import DUMMY_WORDS
from sessions_app.emulator.wire_model import decode_bytes, parse, validate
from tests.emulator.helpers import FLASH, declare, generate, refusal, send, text_of, user

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


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{model:gemini}", "Unexpected token.\n{model:gemini}\n ^"),
        (b'{"contents": [' + b" " * 30 + b"}", "Unexpected token.\n" + " " * 20 + "}\n" + " " * 20 + "^"),
        (b"\xff", "Encountered non UTF-8 code points."),
        (b"\x1f\x8b\x08", "Encountered non UTF-8 code points."),
        (b"[]", "Root element must be a message."),
    ],
)
def test_what_is_no_json_is_shown_where_it_ends(emulator: Emulator, body: bytes, words: str) -> None:
    _, answer = send(emulator, "POST", "models/gemini-3-flash-preview:generateContent", body)
    assert orjson.loads(answer)["error"]["message"] == f"Invalid JSON payload received. {words}"


def test_null_is_the_default_of_a_field_that_is_known(emulator: Emulator) -> None:
    nulls: dict[str, Any] = {"systemInstruction": None, "tools": None, "safety_settings": None}
    part = {"text": "hello", "functionCall": None, "thought": None}
    body = {"contents": [{"role": None, "parts": [part]}], **nulls, "generationConfig": {"topK": None}}
    bare = {"contents": [user("hello")], "generationConfig": {}}
    assert validate(GenerateRequest, body) == validate(GenerateRequest, bare)
    assert "Cannot find field" in refusal(emulator, body | {"bogus": None})


def test_nulls_inside_a_struct_stay() -> None:
    part = {"functionCall": {"name": "f", "args": {"a": None}}}
    (content,) = validate(GenerateRequest, {"contents": [{"parts": [part]}]}).contents
    assert content.calls[0].function_call and content.calls[0].function_call.args == {"a": None}


MEDIA = {
    "inlineData": {"mimeType": "video/mp4", "data": "AA=="},
    "mediaProcessing": "MEDIA_PROCESSING_UNSPECIFIED",
    "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
    **{f"{kind}Metadata": {} for kind in ("video", "document", "spreadsheet", "audio")},
}


def test_what_the_sdk_may_send_to_the_developer_api_is_known(emulator: Emulator) -> None:
    """The fields of google-genai's converters to `mldev`."""
    said = {"text": "hello", "speechMetadata": {}, "audioTranscription": {}, "partMetadata": {}}
    body: dict[str, Any] = {
        "contents": [{"parts": [MEDIA, said]}],
        "tools": [{"mcpServers": [{"name": "a", "streamableHttpTransport": {"url": "https://a.test"}}]}],
        "generationConfig": {"audioTranscriptionConfig": {}, "imageConfig": {}, "speechConfig": {}},
    }
    assert not refusal(emulator, body)


def test_media_inside_a_response_are_described_like_media_beside_it() -> None:
    part = {"functionResponse": {"name": "f", "response": {}, "parts": [MEDIA]}}
    (content,) = validate(GenerateRequest, {"contents": [{"parts": [part]}]}).contents
    assert content.answers[0].parts[0].media_type == "video/mp4"


SIGNED = base64.b64encode(DUMMY_WORDS[0].encode()).decode()
DECLARED = {
    "name": "check_flight",
    "parameters": {"type": "OBJECT", "properties": {"flight": {"type": "STRING", "minLength": 1}}},
}
ASKED = {"functionCall": {"name": "check_flight", "args": {"flight": "AA1"}}, "thoughtSignature": SIGNED}
DONE = {"functionResponse": {"name": "check_flight", "response": {"status": "late"}, "willContinue": False}}
WHOLE = {
    "systemInstruction": {"parts": [{"text": "Be terse."}]},
    "contents": [
        {
            "role": "user",
            "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}, {"text": "hi"}],
        },
        {"role": "model", "parts": [ASKED]},
        {"role": "user", "parts": [DONE]},
    ],
    "tools": [{"functionDeclarations": [DECLARED]}],
    "toolConfig": {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["check_flight"]},
        "includeServerSideToolInvocations": False,
    },
    "generationConfig": {
        "maxOutputTokens": 400,
        "stopSequences": ["END"],
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
        "responseMimeType": "text/plain",
    },
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
}


def test_a_request_in_snake_case_is_the_same_request(emulator: Emulator) -> None:
    """Every key at every depth, as protobuf's JSON takes it; the caches of both hold the same tokens."""
    assert validate(GenerateRequest, _snake(WHOLE)) == validate(GenerateRequest, WHOLE)
    assert not refusal(emulator, _snake(WHOLE))


def test_a_cache_and_what_names_it_come_in_snake_case(emulator: Emulator) -> None:
    body = {
        "model": f"models/{FLASH}",
        "system_instruction": {"parts": [{"text": "a" * 4000}]},
        "display_name": "long",
    }
    made = orjson.loads(send(emulator, "POST", "cachedContents", body)[1])
    assert made["displayName"] == "long"
    named = generate(emulator, {"contents": [user("hello")], "cached_content": made["name"]})
    assert named["usageMetadata"]["cachedContentTokenCount"] == made["usageMetadata"]["totalTokenCount"]


@pytest.mark.parametrize(
    "contents",
    [
        {"role": "user", "parts": [{"text": "hello"}]},
        {"role": "user", "parts": {"text": "hello"}},
        [{"parts": {"text": "hello"}}],
    ],
)
def test_a_request_with_one_object_for_a_list_is_answered(emulator: Emulator, contents: Any) -> None:
    reply = generate(emulator, {"contents": contents, "tools": declare(f=[])[0]})
    assert "hello" in text_of([reply])


def _snake(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            re.sub("[A-Z]", lambda upper: "_" + upper[0].lower(), key): _snake(item)
            for key, item in value.items()
        }
    return [_snake(item) for item in value] if isinstance(value, list) else value
