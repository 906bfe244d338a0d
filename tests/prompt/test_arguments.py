"""The map of prompt arguments: the original's keys, formats and precedence (reference A2, A3)."""

import keyword
from copy import deepcopy
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.arguments import (
    RESERVED,
    Arguments,
    AssistantArguments,
    ConversationArguments,
    MessageArguments,
    build_arguments,
    duration,
    is_name,
)
from sessions_app.prompt.remarks import RemarkCode
from sessions_app.prompt.templates import render

NOW = datetime(2026, 4, 26, 12, 30, 45, tzinfo=UTC)
GUIDE = AssistantArguments("Guide", "123", "en", "Helps.")
CONVERSATION = ConversationArguments("99", "user-42", created=NOW - timedelta(minutes=3), updated=NOW)
HELLO = MessageArguments("hello", "en-US")


def built(args: Any = None, message: MessageArguments = HELLO, **facts: Any) -> Arguments:
    known: dict[str, Any] = {"assistant": GUIDE, "conversation": CONVERSATION} | facts
    return build_arguments(NOW, message=message, args={} if args is None else args, **known)


def values(args: Any = None, message: MessageArguments = HELLO, **facts: Any) -> dict[str, Any]:
    return built(args, message, **facts).values


def test_the_clock_has_the_originals_formats() -> None:
    assert values()["system"] == {
        "current_date": "2026-04-26",
        "current_time": "12:30:45",
        "current_datetime": "2026-04-26T12:30:45Z",
        "day_of_week": "Sunday",
        "date_rfc1123": "Sun, 26 Apr 2026 12:30:45 UTC",
        "date_unix": "1777206645",
        "date_unix_ms": "1777206645000",
    }


def test_the_clock_is_utc_wherever_the_moment_comes_from() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    assert build_arguments(elsewhere, None, None, HELLO, {}).values["system"] == values()["system"]


def test_the_unix_time_keeps_its_milliseconds_and_no_more() -> None:
    moment = NOW.replace(microsecond=123_987)
    clock = build_arguments(moment, None, None, HELLO, {}).values["system"]
    assert (clock["date_unix"], clock["date_unix_ms"]) == ("1777206645", "1777206645123")


def test_the_assistant_and_the_conversation_stand_with_every_key() -> None:
    found = values()
    assert found["assistant"] == {"name": "Guide", "id": "123", "language": "en", "description": "Helps."}
    assert found["conversation"] == {
        "id": "99",
        "identifier": "user-42",
        "source": "web",
        "direction": "inbound",
        "created_date": "2026-04-26T12:27:45Z",
        "updated_date": "2026-04-26T12:30:45Z",
        "duration": "3m0s",
    }


def test_what_is_not_there_is_an_empty_namespace() -> None:
    found = values(assistant=None, conversation=None, message=MessageArguments(), mode="")
    assert (found["assistant"], found["conversation"], found["session"]) == ({}, {}, {})
    assert found["message"] == {"text": "", "language": ""}
    assert found["args"] == {}


@pytest.mark.parametrize("ahead", [0, 90])
def test_a_conversation_that_begins_now_or_later_has_lasted_no_time(ahead: int) -> None:
    created = ConversationArguments("1", "x", created=NOW + timedelta(seconds=ahead))
    assert values(conversation=created)["conversation"]["duration"] == "0s"


def test_a_conversation_without_a_beginning_has_no_duration() -> None:
    assert values(conversation=ConversationArguments("1", "x"))["conversation"].keys() == {
        "id",
        "identifier",
        "source",
        "direction",
    }


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0s"), (45, "45s"), (180, "3m0s"), (3723, "1h2m3s"), (3600, "1h0m0s"), (176_400, "49h0m0s")],
)
def test_durations_are_written_as_go_writes_them(seconds: int, words: str) -> None:
    assert duration(seconds) == words


def test_args_stand_under_args_and_at_the_root() -> None:
    found = values({"name": "lex"})
    assert found["name"] == found["args"]["name"] == "lex"


PRECEDENCE = [
    ({"assistant": {"name": "X"}}, "{{ assistant.name }} {{ assistant.id }}", "X 123"),
    ({"message": {"text": "X"}}, "{{ message.text }}", "hello"),
    ({"message": {"language": "L"}}, "{{ message.language }}", "en-US"),
    ({"conversation": {"id": "X"}}, "{{ conversation.id }}", "99"),
    ({"session": {"mode": "X"}}, "{{ session.mode }}", "text"),
    ({"system": {"current_date": "X"}}, "{{ system.current_date }}", "X"),
    ({"args": {"x": 1}, "y": 2}, "{{ args }} {{ y }}", '{"args":{"x":1},"x":1,"y":2} 2'),
    ({"message.language": "L"}, "{{ message.language }}", "en-US"),
]


@pytest.mark.parametrize(("args", "template", "text"), PRECEDENCE)
def test_precedence_follows_the_second_version(args: dict[str, Any], template: str, text: str) -> None:
    assert render(template, values(args)).text == text


def test_an_unknown_language_leaves_the_arguments_own() -> None:
    assert values({"message": {"language": "L"}}, MessageArguments("hello"))["message"]["language"] == "L"


def test_the_originals_example_of_precedence() -> None:
    args = {
        "assistant": {"name": "from-args-assistant"},
        "conversation": {"id": "from-args-conversation"},
        "message": {"text": "from-args-text", "language": "from-args-language"},
        "session": {"mode": "from-args-mode"},
    }
    template = (
        "a={{assistant.name}} c={{conversation.id}} m={{message.text}} l={{message.language}} "
        "s={{session.mode}}"
    )
    text = render(template, values(args, mode="audio")).text
    assert text == "a=from-args-assistant c=99 m=hello l=en-US s=audio"


def test_a_scalar_in_the_place_of_a_namespace_sends_the_text_as_written() -> None:
    rendered = render("{{assistant.name}}", values({"assistant": "X"}))
    assert (rendered.text, rendered.status) == ("{{assistant.name}}", "fallback")


def test_texts_that_hold_json_are_read() -> None:
    found = values({"people": '["Ann", "Bo"]', "broken": "[1,", "word": "null"})
    assert (found["people"], found["broken"], found["word"]) == (["Ann", "Bo"], "[1,", "null")


@pytest.mark.parametrize(("levels", "is_read"), [(20, True), (21, False), (5_000, False)])
def test_a_text_that_holds_deeper_json_than_arguments_may_be_stays_a_text(levels: int, is_read: bool) -> None:
    text = " \n" + "[" * levels + "]" * levels
    assert isinstance(values({"x": text})["x"], list) is is_read
    assert is_read or values({"x": text})["x"] == text


def test_collisions_are_reported_with_who_wins() -> None:
    remarks = built({"assistant": 1, "message": 2, "args": 3, "name": 4}).remarks
    assert [(one.code, one.figures["name"]) for one in remarks] == [
        ("argument_wins", "assistant"),
        ("argument_loses", "message"),
        ("argument_merged", "args"),
    ]


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("a..b", RemarkCode.ARGUMENT_EMPTY_SEGMENT),
        (".", RemarkCode.ARGUMENT_EMPTY_SEGMENT),
        ("a. ", RemarkCode.ARGUMENT_EMPTY_SEGMENT),
        ("a-b", RemarkCode.ARGUMENT_UNNAMEABLE),
        ("", RemarkCode.ARGUMENT_UNNAMEABLE),
        ("true", RemarkCode.ARGUMENT_UNNAMEABLE),
        ("a.b", None),
        ("ab", None),
    ],
)
def test_a_key_that_no_template_reaches_is_reported_by_what_is_wrong_with_it(
    key: str, code: RemarkCode | None
) -> None:
    assert [(one.code, one.figures) for one in built({key: 1}).remarks] == (
        [(code, {"name": key})] if code else []
    )


def test_an_odd_key_is_reported_and_stays_within_reach() -> None:
    found = built({"customer-name": "Jo", "not": 1, "ok": 2})
    assert [one.figures["name"] for one in found.remarks] == ["customer-name", "not"]
    assert "customer-name" not in found.values and found.values["ok"] == 2
    assert render('{{ args["customer-name"] }}', found.values).text == "Jo"


@pytest.mark.parametrize("key", [*keyword.kwlist, "true", "none", "self", "match", "name", "_"])
def test_a_key_stands_at_the_root_where_a_template_can_name_it(key: str) -> None:
    taken = {"not", "True", "False", "None", "true", "none", "self"}
    found = built({key: "V"})
    assert (key in found.values) is (key not in taken)
    text = render(f"{{{{ ok or {key} or ok }}}}", {key: "V", "ok": ""}).text
    assert (text == "V") is (key not in taken)


@pytest.mark.parametrize("args", [None, [], "text", 7])
def test_arguments_that_are_no_object_are_reported_and_left_out(args: Any) -> None:
    found = build_arguments(NOW, None, None, HELLO, args)
    assert found.values["args"] == {} and [one.code for one in found.remarks] == ["arguments_no_object"]


@pytest.mark.parametrize(
    ("args", "code", "figures"),
    [
        ({"a.b": 1, "a": {"b": 2}}, RemarkCode.ARGUMENT_TWICE, {"name": "a.b", "other": "a.b"}),
        ({"a.b": 1, "a": '{"b": 2}'}, RemarkCode.ARGUMENT_TWICE, {"name": "a.b", "other": "a.b"}),
        ({"a.b": 1, "a": 2}, RemarkCode.ARGUMENT_DROPPED, {"name": "a", "other": "a.b"}),
    ],
)
def test_an_argument_beside_another_of_its_name_is_reported_with_it(
    args: dict[str, Any], code: RemarkCode, figures: dict[str, str]
) -> None:
    assert [(one.code, one.figures) for one in built(args).remarks] == [(code, figures)]


def nested(levels: int) -> dict[str, Any]:
    return {"a": nested(levels - 1)} if levels > 1 else {}


def test_arguments_have_twenty_levels_at_most() -> None:
    assert built(nested(20)).remarks == () and values(nested(20))["args"] == nested(20)
    assert [one.code for one in built(nested(21)).remarks] == ["arguments_too_deep"]


def test_bottomless_arguments_are_reported_and_left_out() -> None:
    deep: Any = 1
    for _ in range(30):
        deep = {"a": deep}
    found = built(deep)
    assert found.values["args"] == {} and [one.code for one in found.remarks] == ["arguments_too_deep"]
    assert "a" not in built({"a." * 30 + "a": 1}).values


@given(st.dictionaries(st.text(max_size=8), st.recursive(st.text(), st.lists) | st.integers(), max_size=5))
def test_whatever_the_arguments_are_the_map_stands(args: dict[str, Any]) -> None:
    before = deepcopy(args)
    found = built(args).values
    assert set(RESERVED) <= found.keys()
    assert found["message"]["text"] == "hello"
    assert all(is_name(key) for key in found)
    assert args == before


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), min_size=1), min_size=1))
def test_the_map_shares_nothing_with_the_arguments(args: dict[str, Any]) -> None:
    before = deepcopy(args)
    for value in values(args)["args"].values():
        value.clear()
    assert args == before
