"""Foreign bodies are cut into items whose bytes, with what stands between them, are the body."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.capture.cutting import CONFIGURATION_KIND, OPAQUE_KIND, SYSTEM_KIND, CutBody, cut
from sessions_app.capture.traits import traits_of
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.prompt_items import DECLARATIONS_KIND, TEXT_KIND
from sessions_app.prompt.turns import TurnKind
from tests.capture.conversations import body_of, call, model, result, user
from tests.capture.recordings import SHARED, needs_captures, recorded

BETWEEN = re.compile(rb'(?:[\s{}\[\],:]|"(?:\\.|[^"\\])*"\s*:|"user"|"(?=\Z)|(?<![\w}\]])")*')
CONTEXT = "\n<loaded_context>\nAlways answer in English."


def kinds(found: CutBody) -> list[str]:
    return [item.kind for item in found.items]


def spelled(value: Any, *, indent: int | None = None) -> bytes:
    return json.dumps(value, indent=indent).encode()


def assert_bytes_are_kept(body: bytes) -> CutBody:
    found = cut(body)
    assert found.joined() == body
    for item in found.items:
        assert item.start is not None and body[item.start : item.end] == item.wire
    return found


def test_items_stand_in_reading_order_whatever_the_client_wrote() -> None:
    fields = json.loads(body_of([user("Which?"), model("This.")], generationConfig={"temperature": 0}))
    found = assert_bytes_are_kept(spelled(fields))
    assert next(iter(fields)) == "contents"
    wanted = [DECLARATIONS_KIND, SYSTEM_KIND, TurnKind.USER_TASK, TurnKind.MODEL_RESPONSE, CONFIGURATION_KIND]
    assert kinds(found) == wanted
    assert [item.layer for item in found.prompt] == [Layer.STATIC] * 2 + [Layer.BUFFERED, Layer.TRIGGER]


def test_contents_are_told_apart_by_their_parts() -> None:
    body = body_of(
        [user("Which?"), call("weather", city="Oslo"), result("weather", sky="clear"), model("So.")]
    )
    found = [item for item in cut(body).prompt if item.content is not None]
    assert [item.kind for item in found] == [
        "user_task",
        "function_calling",
        "tool_response",
        "model_response",
    ]
    assert [item.role for item in found] == ["user", "model", "user", "model"]


def test_generated_context_is_dynamic_and_the_question_beside_it_is_not() -> None:
    content = {"role": "user", "parts": [{"text": CONTEXT}, {"text": "Which é?\n"}]}
    found = assert_bytes_are_kept(body_of([content], tools=None))
    context, question = found.prompt[1:]
    assert (context.layer, question.layer) == (Layer.DYNAMIC, Layer.TRIGGER)
    assert (context.kind, question.kind) == (TEXT_KIND, TEXT_KIND)
    assert (question.content, question.part) == (0, 1)
    assert json.loads(b'"' + question.wire + b'"') == "Which é?\n"


@pytest.mark.parametrize(
    "content",
    [
        {"role": "user", "parts": [{"text": CONTEXT}, {"text": "x", "thought": False}]},
        {"role": "user", "parts": [{"text": CONTEXT}], "more": 1},
        {"role": "function", "parts": [{"text": CONTEXT}]},
    ],
)
def test_a_content_that_says_more_than_texts_stays_whole(content: Any) -> None:
    (item,) = cut(spelled({"contents": [content]})).prompt
    assert json.loads(item.wire) == content


def test_a_member_that_stands_twice_in_a_content_is_in_no_lead() -> None:
    twice = b'{"contents":[{"parts":[{"text":"secret"}],"parts":[{"text":"<loaded_context> x"}]}]}'
    (item,) = assert_bytes_are_kept(twice).prompt
    assert b"secret" in item.wire


def test_names_in_snake_case_are_the_same_members() -> None:
    value = {"system_instruction": {"parts": []}, "cached_content": "cachedContents/1", "tools": []}
    found = assert_bytes_are_kept(spelled(value))
    assert kinds(found) == [DECLARATIONS_KIND, SYSTEM_KIND, CONFIGURATION_KIND]
    assert found.cached_content == "cachedContents/1"


def test_what_nobody_knows_is_an_item_and_not_between_items() -> None:
    found = assert_bytes_are_kept(spelled({"ключ": {"a": 1}, "contents": [{"parts": []}]}))
    (unknown,) = found.configuration
    assert unknown.source == "config:ключ" and json.loads(unknown.wire) == {"a": 1}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"--boundary\r\n",
        b"\xff\xfe",
        b'\xef\xbb\xbf{"contents":[]}',
        '{"contents":[]}'.encode("utf-16-le"),
        b'{"contents":[],"contents":[]}',
        b'{"systemInstruction":1,"system_instruction":2}',
        b'{"contents":' + b"[" * 300 + b"]" * 300 + b"}",
    ],
)
def test_what_does_not_cut_is_one_opaque_item(body: bytes) -> None:
    found = assert_bytes_are_kept(body)
    assert kinds(found) == [OPAQUE_KIND]


@pytest.mark.parametrize("contents", [{"parts": [{"text": "x"}]}, "x", [], [None, 3], {}, 1.5])
def test_contents_of_any_form_are_cut(contents: Any) -> None:
    assert OPAQUE_KIND not in kinds(assert_bytes_are_kept(spelled({"contents": contents})))


def test_other_spelling_gives_the_same_items_with_the_same_meaning() -> None:
    value = json.loads(body_of([user("Which é?"), model("This.")], generationConfig={"topK": 4}))
    compact, pretty = cut(json.dumps(value, separators=(",", ":")).encode()), cut(spelled(value, indent=2))
    assert kinds(compact) == kinds(pretty)
    assert [item.sha256 for item in compact.prompt] != [item.sha256 for item in pretty.prompt]
    bodies = (json.dumps(value, ensure_ascii=False).encode(), spelled(value, indent=2))
    assert traits_of(bodies[0]) == traits_of(bodies[1])


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
_part = st.fixed_dictionaries({"text": st.sampled_from(["", "Which?", CONTEXT, '"}],"é\n'])}) | _json
_content = st.fixed_dictionaries(
    {"parts": st.lists(_part, max_size=3)}, optional={"role": st.sampled_from(["user", "model", "x"])}
)
_request = st.fixed_dictionaries(
    {},
    optional={
        "contents": st.lists(_content | _json, max_size=4) | _json,
        "tools": _json,
        "system_instruction": _content | _json,
        "generationConfig": _json,
        "other": _json,
    },
)


@given(value=_request, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_any_request_is_cut_without_a_byte_lost(value: Any, indent: int | None, ascii_only: bool) -> None:
    body = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    found = assert_bytes_are_kept(body)
    for item in found.items:
        assert BETWEEN.fullmatch(item.lead), "only punctuation and names stand between items"


@given(body=st.binary(max_size=60))
def test_no_body_is_a_failure(body: bytes) -> None:
    assert_bytes_are_kept(body)


@needs_captures
@pytest.mark.parametrize("folder", sorted(path.name for path in SHARED.glob("*/")))
def test_bodies_of_real_clients_are_cut(folder: str) -> None:
    for one in recorded(folder):
        found = assert_bytes_are_kept(one.body)
        assert (OPAQUE_KIND in kinds(found)) == (
            not one.body or one.body == b"hello" or (one.traits is None and not found.configuration)
        )
        assert all(BETWEEN.fullmatch(item.lead) for item in found.items)
