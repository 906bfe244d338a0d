"""The one rule for texts and JSON: what passes is kept by both databases and sent unchanged."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from sessions_app.models import Session
from sessions_app.prompt import wire
from sessions_app.values import (
    CONTAINER_LIMIT,
    DEPTH_LIMIT,
    ValueProblem,
    check_json,
    check_moment,
    check_nesting,
    mended,
    parse_json,
    uuid_or_none,
)
from sessions_app.wording.values import sentence
from tests.factories import make_session

TEXTS = st.text(st.characters() | st.sampled_from("\0\ud800\udfff\ufffe\uffff"))
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([2**64, -(10**400)]) | TEXTS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXTS, below, max_size=4),
    max_leaves=12,
)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def wide(inner: int) -> str:
    return f"[{','.join(['[]'] * inner)}]"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": NaN}', ValueProblem.NOT_FINITE),
        ("-Infinity", ValueProblem.NOT_FINITE),
        ('{"a": 1e999}', ValueProblem.NOT_FINITE),
        ("9" * 5_000, ValueProblem.LARGE_INTEGER),
        (str(2**64), ValueProblem.LARGE_INTEGER),
        (str(-(2**63) - 1), ValueProblem.LARGE_INTEGER),
        ('"\\ud800"', ValueProblem.LONE_SURROGATE),
        ('{"\\udfff": 1}', ValueProblem.LONE_SURROGATE),
        ('["\\u0000"]', ValueProblem.NUL),
        ('{"a": 1, "a": 2}', ValueProblem.REPEATED_NAME),
        (nested(DEPTH_LIMIT + 1), ValueProblem.TOO_DEEP),
        ("[" * 100_000, ValueProblem.TOO_DEEP),
        pytest.param(wide(CONTAINER_LIMIT), ValueProblem.TOO_MANY_CONTAINERS, id="wide"),
        ('{"a": }', ValueProblem.NOT_JSON),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_sentence(text: str, problem: ValueProblem) -> None:
    with pytest.raises(PydanticCustomError) as caught:
        parse_json(text)
    assert caught.value.type == problem
    said = sentence(problem, caught.value.context or {})
    assert said.endswith(".") and "{" not in said


@pytest.mark.parametrize(
    "text",
    [
        nested(DEPTH_LIMIT),
        pytest.param(wide(CONTAINER_LIMIT - 1), id="wide"),
        str(2**64 - 1),
        str(-(2**63)),
        '"\\ud83d\\ude00"',
        "1e308",
        '"\\uffff"',
    ],
)
def test_what_is_odd_but_valid_passes(text: str) -> None:
    assert parse_json(text) == json.loads(text)


@given(ODD)
def test_what_passes_is_sent_unchanged(value: Any) -> None:
    try:
        check_json(value)
    except PydanticCustomError:
        return
    assert orjson.loads(orjson.dumps(value)) == value == json.loads(wire.dumps(value))


@given(ODD)
def test_a_mended_value_passes_and_a_good_one_is_not_changed(value: Any) -> None:
    found = mended(value)
    assert check_json(found) == found == mended(found)
    try:
        check_json(value)
    except PydanticCustomError:
        assert json.dumps(found) != json.dumps(value)
    else:
        assert found == value


def test_mending_ends_at_the_limit() -> None:
    deep: Any = []
    for _ in range(2_000):
        deep = [deep]
    body = orjson.dumps(mended(deep))
    assert body.count(b"[") == DEPTH_LIMIT
    check_nesting(body)


@given(ODD, st.integers(0, DEPTH_LIMIT))
def test_nesting_is_counted_without_parsing(value: Any, levels: int) -> None:
    def depth(one: Any) -> int:
        below = one.values() if isinstance(one, dict) else one
        return 1 + max(map(depth, below), default=0) if isinstance(one, dict | list) else 0

    body = b"[" * levels + json.dumps(value).encode() + b"]" * levels
    if levels + depth(value) <= DEPTH_LIMIT:
        check_nesting(body)
    else:
        with pytest.raises(PydanticCustomError, match="too_deep"):
            check_nesting(body)


@pytest.mark.parametrize("value", [[[]] * CONTAINER_LIMIT, {"a": [{}] * CONTAINER_LIMIT}])
def test_a_parsed_value_with_too_many_containers_is_refused(value: Any) -> None:
    with pytest.raises(PydanticCustomError, match="too_many_containers"):
        check_json(value)


@pytest.mark.parametrize("year", [1, 1969, 2200, 9999])
def test_a_moment_that_no_page_can_show_is_refused(year: int) -> None:
    with pytest.raises(PydanticCustomError):
        check_moment(datetime(year, 1, 1, tzinfo=UTC))


@pytest.mark.django_db
@given(st.dictionaries(TEXTS, ODD, max_size=3))
def test_both_databases_keep_what_passes(value: dict[str, Any]) -> None:
    try:
        check_json(value)
    except PydanticCustomError:
        return
    session = Session.objects.first()
    if session is None:
        from django.contrib.auth.models import User

        session = make_session(User.objects.create_user("any"))
    Session.objects.filter(pk=session.pk).update(args=value)
    # PostgreSQL keeps a number by its digits: 1e16 comes back as an integer.
    assert as_floats(Session.objects.get(pk=session.pk).args) == as_floats(value)


def as_floats(value: Any) -> Any:
    return json.loads(json.dumps(value), parse_int=float)


@given(st.integers(-(10**400), 10**400))
def test_any_integer_of_a_model_is_serialised(number: int) -> None:
    json.loads(wire.dumps({"n": number, "half": "\ud800"}))


@pytest.mark.parametrize("text", ["", "1", "None", "6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8dg", "\0" * 32])
def test_other_texts_are_no_id(text: str) -> None:
    assert uuid_or_none(text) is None


def test_an_id_is_known_with_and_without_its_hyphens() -> None:
    key = UUID("6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8d5")
    assert uuid_or_none(str(key)) == uuid_or_none(key.hex) == key
