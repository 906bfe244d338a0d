"""Settings of which this version knows a part: what counts, and what is told as unknown."""

from typing import Any

import pytest
from pydantic import ValidationError

from sessions_app.models.known_settings import KnownSettings, Unknown
from sessions_app.models.library import defaults_of

USER = {"role": "user", "text": "Hi"}
CRITIC = {"role": "critic", "text": "No"}


@pytest.mark.parametrize(
    ("name", "stored", "known", "unknown"),
    [
        ("provider_tools", ["google_search", "tomorrow"], ["google_search"], ["tomorrow"]),
        ("provider_tools", "google_search", [], ["google_search"]),
        ("thinking_level", "ULTRA", "", ["ULTRA"]),
        ("cache_mode", "psychic", "auto", ["psychic"]),
        ("examples", [CRITIC], [], [CRITIC]),
        ("variables", ["a", {"name": "a b"}], [], ["a", {"name": "a b"}]),
        ("panels", {"tree": True, "todos": "maybe"}, {"tree": True}, ["maybe"]),
        ("max_usd", "much", 1.0, ["much"]),
        ("tools", ["calculate", 1], ["calculate"], [1]),
    ],
)
def test_what_is_known_counts_and_the_rest_is_told(
    name: str, stored: Any, known: Any, unknown: list[Any]
) -> None:
    found = KnownSettings.of({name: stored, "language": "Greek"})
    assert getattr(found.options, name) == known
    assert found.unknown == tuple(Unknown(name, value) for value in unknown)
    assert found.options.language == "Greek"


def test_the_other_items_of_a_list_keep_their_order() -> None:
    found = KnownSettings.of({"examples": [USER, CRITIC, {**USER, "text": "Bye"}]})
    assert [one.text for one in found.options.examples] == ["Hi", "Bye"]


def test_tools_of_which_nothing_can_be_read_are_none() -> None:
    """Without a value they would be the standard ones."""
    assert KnownSettings.of({"tools": {"calculate": True}}).options.tools == []


@pytest.mark.parametrize("stored", [{"budget_usd": "much"}, ["language"]])
def test_a_budget_is_never_left_out(stored: Any) -> None:
    with pytest.raises(ValidationError):
        KnownSettings.of(stored)


def test_the_defaults_of_a_text_count_beside_a_damaged_one() -> None:
    assert defaults_of([{"name": "tone", "default": "calm"}, "a", {"name": "a b"}]) == {"tone": "calm"}
