"""What is kept of formatted turns."""

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User

from sessions_app.chat import turn_contents
from sessions_app.chat.turn_contents import TurnContents
from sessions_app.markup import Mark, render
from sessions_app.models import Turn
from tests.factories import answered, make_session


@pytest.fixture
def turns(alice: User) -> list[Turn]:
    session = make_session(alice)
    for word in ("red", "blue"):
        answered(session, "Which?", f"The **{word}** one.")
    return list(session.turns.filter(kind=Turn.Kind.MODEL_RESPONSE).order_by("depth"))


@pytest.fixture
def formatted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were formatted."""
    texts: list[str] = []

    def note(text: str, scope: str, marks: Sequence[Mark] = ()) -> str:
        texts.append(text)
        return render(text, scope, marks)

    monkeypatch.setattr(turn_contents, "render", note)
    return texts


def test_a_turn_is_formatted_once(turns: list[Turn], formatted: list[str]) -> None:
    contents = TurnContents()
    shown = [contents.of(Turn.objects.get(pk=turns[0].pk), None).text for _ in range(3)]
    assert "<strong>red</strong>" in shown[0] and len(set(shown)) == len(formatted) == 1


def test_what_was_shown_longest_ago_goes_first(turns: list[Turn], formatted: list[str]) -> None:
    red, blue = turns
    size = TurnContents().of(red, None).size
    contents = TurnContents(limit=size + 3)
    formatted.clear()
    for turn in (red, blue, blue, red):
        contents.of(turn, None)
    assert formatted == ["The **red** one.", "The **blue** one.", "The **red** one."]


def test_a_turn_with_its_responses_is_another(turns: list[Turn], formatted: list[str]) -> None:
    contents = TurnContents()
    contents.of(turns[0], None)
    contents.of(turns[0], turns[1])
    assert len(formatted) == 2
