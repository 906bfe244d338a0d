from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.calls import calls_in
from sessions_app.prompt.parts import (
    PartView,
    call_part,
    decode_signature,
    file_of,
    is_file_object,
    may_be_signed,
    parts_of,
    raw_parts,
    response_part,
    signature_of,
    text_of,
    with_call,
    with_parts,
    with_signature,
    without_call,
    without_signature,
)
from sessions_app.prompt.parts import (
    content as raw_content,
)
from tests.prompt.examples import SIGNATURE, call, content, text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "text",
        "thought",
        "functionCall",
        "function_call",
        "functionResponse",
        "inlineData",
        "file_data",
        "executableCode",
        "code_execution_result",
        "thoughtSignature",
        "partMetadata",
        "videoMetadata",
        "novelty",
    ]
)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (text("x"), "text"),
        (text("x", thought=True), "thought"),
        (call("f"), "function_call"),
        ({"functionResponse": {}}, "function_response"),
        ({"inlineData": {}}, "inline_data"),
        ({"inline_data": {}}, "inline_data"),
        ({"toolCall": {}, "thoughtSignature": "AAAA"}, "tool_call"),
        ({"novelty": 1}, "other"),
        ({"text": None, "functionCall": {"name": "f"}}, "function_call"),
        ({"executableCode": None, "thoughtSignature": "AAAA"}, "text"),
        ({"thought_signature": "AAAA"}, "text"),
    ],
)
def test_every_part_has_a_kind(part: dict[str, object], kind: str) -> None:
    assert parts_of(content("model", part))[0].kind == kind


def test_the_text_of_a_content_leaves_thoughts_out() -> None:
    assert text_of(content("model", text("hm", thought=True), text("a"), text("b"))) == "ab"


@pytest.mark.parametrize("odd", [b"{}", b"[]", b'{"parts":null}', b'{"parts":["x",3]}'])
def test_a_content_without_parts_has_none(odd: bytes) -> None:
    assert parts_of(odd) == ()


def test_both_base64_alphabets_mean_the_same_bytes() -> None:
    url_safe = SIGNATURE.replace("+", "-").replace("/", "_").rstrip("=")
    assert decode_signature(SIGNATURE) == decode_signature(url_safe) == bytes(range(256))


def test_a_signature_that_is_no_base64_is_shown_as_it_is() -> None:
    assert decode_signature("no base64!") == b"no base64!"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("functionCall", "call"),
        ("function_call", "call"),
        ("functionResponse", "response"),
        ("function_response", "response"),
        ("executableCode", "code"),
        ("executable_code", "code"),
        ("codeExecutionResult", "code_result"),
        ("code_execution_result", "code_result"),
    ],
)
def test_both_spellings_read_alike(key: str, name: str) -> None:
    assert getattr(PartView(0, {key: {"name": "f"}}), name) == {"name": "f"}


def test_an_empty_call_is_a_call_and_null_is_none() -> None:
    assert PartView(0, {"functionCall": {}}).call == {}
    assert PartView(0, {"functionCall": None, "function_call": {"name": "f"}}).call == {"name": "f"}


@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_odd_parts_are_read_without_an_exception_and_kept(part: dict[str, Any]) -> None:
    (view,) = parts_of(orjson.dumps({"parts": [part]}))
    for name in ("kind", "text", "signature", "call", "response", "file", "code", "code_result"):
        getattr(view, name)
    assert view.raw == part
    assert view.unknown == (("novelty",) if "novelty" in part else ())


def test_what_is_known_is_not_called_unknown() -> None:
    known = {
        "text": "x",
        "thought": True,
        "thought_signature": "QQ==",
        "videoMetadata": {},
        "partMetadata": {},
    }
    assert PartView(0, known | {"novelty": 1, "other": 2}).unknown == ("novelty", "other")


@pytest.mark.parametrize(
    ("part", "read"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": "QUJD"}}, ("image/png", 3, "")),
        ({"inline_data": {"mime_type": "image/png", "data": "QUI="}}, ("image/png", 2, "")),
        (
            {"file_data": {"mime_type": "video/mp4", "file_uri": "https://files/1"}},
            ("video/mp4", None, "https://files/1"),
        ),
        ({"fileData": {}}, ("", None, "")),
    ],
)
def test_a_file_is_inside_the_part_or_named(part: dict[str, Any], read: tuple[str, int | None, str]) -> None:
    file = file_of(part)
    assert file and (file.mime, file.size, file.uri) == read


def test_the_bytes_of_a_file_are_known_anywhere_in_json() -> None:
    assert is_file_object({"mime_type": "image/png", "data": "QQ=="})
    assert not is_file_object({"data": "QQ=="}) and not is_file_object({"mimeType": "a", "data": 1})


def test_a_signature_takes_the_place_of_the_one_before() -> None:
    signed = with_signature({"text": "x", "thought_signature": "QQ=="}, "Qg==")
    assert signed == {"text": "x", "thoughtSignature": "Qg=="}
    assert (signature_of(signed), without_signature(signed)) == ("Qg==", {"text": "x"})
    assert may_be_signed(orjson.dumps(signed)) and not may_be_signed(b'{"text":"x"}')


@pytest.mark.parametrize("key", ["functionCall", "function_call"])
def test_a_call_is_replaced_under_its_own_key(key: str) -> None:
    part = {key: {"name": "f"}, "novelty": 1}
    assert with_call(part, {"name": "g"}) == {key: {"name": "g"}, "novelty": 1}
    assert without_call(part) == {"novelty": 1}


def test_other_parts_leave_the_rest_of_a_content_alone() -> None:
    before = orjson.dumps({"role": "user", "parts": [{"text": "a"}], "novelty": 1})
    assert orjson.loads(with_parts(before, [{"text": "b"}])) == {
        "role": "user",
        "parts": [{"text": "b"}],
        "novelty": 1,
    }


def test_what_is_written_reads_back() -> None:
    calling = orjson.dumps(raw_content("model", [call_part("f", {"a": 1}, call_id="k")]))
    assert [(one.id, one.name, one.args) for one in calls_in(calling)] == [("k", "f", {"a": 1})]
    answer = response_part("f", {"b": 2})
    assert PartView(0, answer).response == {"name": "f", "response": {"b": 2}}
    assert raw_parts(orjson.dumps(raw_content("user", [answer]))) == [answer]
