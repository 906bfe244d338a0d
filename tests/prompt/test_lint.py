"""Which variables of a text break the cache of the layer it stands in."""

import pytest

from sessions_app.prompt.lint import breakers
from sessions_app.prompt.templates import uses_of


def found(text: str) -> list[tuple[str, int]]:
    return [(one.path, one.line) for one in breakers(uses_of(text))]


@pytest.mark.parametrize(
    "variable",
    [
        "system.current_time",
        "system.date_unix_ms",
        "system",
        "message.text",
        "message.language",
        "message",
        "conversation",
        "conversation.duration",
        "conversation.updated_date",
    ],
)
def test_what_changes_by_itself_is_found(variable: str) -> None:
    assert found(f"one\n{{{{ {variable} }}}}") == [(variable, 2)]


@pytest.mark.parametrize(
    "variable",
    [
        "assistant.name",
        "args",
        "args.x",
        "name",
        "session.mode",
        "conversation.id",
        "conversation.created_date",
    ],
)
def test_what_stays_is_no_breaker(variable: str) -> None:
    assert found(f"{{{{ {variable} }}}}") == []


def test_each_variable_is_told_once_with_its_first_line() -> None:
    assert found("{{ message.text }}\n{{ message.text }}{{ system['current_date'] }}") == [
        ("message.text", 1),
        ("system.current_date", 2),
    ]


def test_a_new_name_hides_nothing() -> None:
    assert found("{% set clock = system.current_time %}{{ clock }}") == [("system.current_time", 1)]


def test_the_day_changes_more_rarely_than_the_time() -> None:
    often = [one.how_often for one in breakers(uses_of("{{ system.current_date }}{{ system.current_time }}"))]
    assert often == ["once a day", "with every message"]
