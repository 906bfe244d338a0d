"""What is kept of formatted turns."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.chat import turn_contents
from sessions_app.chat.turn_contents import TurnContent, TurnContents
from sessions_app.markup import Mark, render
from sessions_app.models import Blob, Session, Turn
from sessions_app.prompt.parts import RawPart, call_part, response_part
from sessions_app.prompt.turns import TurnKind
from sessions_app.prompt.wire import readable
from tests.factories import answered, call_chunk, make_exchange, make_run, make_session
from tests.prompt.examples import content


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


@pytest.mark.parametrize("key", ["b", ""])
def test_a_call_shows_the_response_that_is_its_own(alice: User, key: str) -> None:
    """Programs send responses as they came in: the id says whose they are, or the name."""
    session = make_session(alice)
    calls = (call_part("read", {}, call_id="a"), call_part("read" if key else "list", {}, call_id=key))
    given = (
        response_part("read" if key else "list", {"of": "second"}, call_id=key),
        response_part("read", {"of": "first"}, call_id="a"),
    )
    asking = stored(session, TurnKind.FUNCTION_CALLING, "model", *calls)
    shown = TurnContent.of(asking, stored(session, TurnKind.TOOL_RESPONSE, "user", *given)).cards
    assert ["first" in shown[0].response, "second" in shown[1].response] == [True, True]
    alone = TurnContent.of(asking, stored(session, TurnKind.TOOL_RESPONSE, "user", given[0])).cards
    assert [bool(card.response) for card in alone] == [False, True]


def stored(session: Session, kind: TurnKind, role: str, *parts: RawPart) -> Turn:
    (blob,) = Blob.objects.store(session.owner_id, [content(role, *parts)]).values()
    return Turn.objects.create(session=session, depth=0, kind=kind, content_id=blob)


@pytest.mark.parametrize("args", [[1, "b"], "a text", 7])
def test_arguments_that_are_no_object_are_shown_as_they_came(alice: User, args: Any) -> None:
    session = make_session(alice)
    make_exchange(make_run(session), [call_chunk("check_flight", args, finish="STOP")])
    turn = session.turns.get(kind=Turn.Kind.FUNCTION_CALLING)
    (card,) = TurnContents().of(turn, None).cards
    assert (card.brief, card.args) == ("", readable(args))
