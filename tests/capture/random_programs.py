"""Programs that ask at random, and people who join and split what they asked."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from sessions_app.capture.placements import LaneRole
from sessions_app.models import CapturedRequest, Session, Turn
from tests.capture.answers import Asking, calls, says
from tests.capture.conversations import body_of, call, model, result, user

FAILED = b'{"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}'

ASKED = st.tuples(
    st.just("ask"), st.integers(0, 2), st.sampled_from(["text", "calls", "fails", "edits", "drops", "routes"])
)
JOINED = st.tuples(st.just("join"), st.integers(0, 5), st.integers(0, 5))
SPLIT = st.tuples(st.just("split"), st.integers(0, 5), st.integers(2, 6))


@dataclass
class Conversation:
    """One of a program; its texts say which, so that no other is taken for it."""

    number: int
    program: Asking
    contents: list[Any] = field(default_factory=list)
    said: int = 0

    def ask(self, how: str) -> None:
        self.said += 1
        if how == "edits" and self.contents:
            self.contents[0] = user(self._text("edited"))
        elif how == "drops" and len(self.contents) > 2:
            del self.contents[:2]
        elif how == "routes":
            self.program.exchange(
                body_of([user(self._text("routed"))], system="Route.", tools=None), says("flash")
            )
        self.contents.append(user(self._text("asks")))
        if how == "fails":
            self.program.exchange(self._body(), FAILED, 503)
        if how == "calls":
            place = self._text("somewhere")
            self.program.exchange(self._body(), calls("look", 9_000 + self.said, where=place))
            self.contents += [call("look", where=place), result("look", found=self._text("found"))]
        self.program.exchange(
            self._body(), says(self._text("answers"), 9_100 + self.said, 4_000 if self.said % 2 else 0)
        )
        self.contents.append(model(self._text("answers")))

    def _body(self) -> bytes:
        return body_of(self.contents, system=f"Conversation {self.number} is about that.")

    def _text(self, what: str) -> str:
        return f"Conversation {self.number} {what} for the {self.said}th time, as it were."


def unsound() -> list[str]:
    """What cannot be: names of turns, keys and numbers that lead nowhere or elsewhere."""
    found = []
    for session in Session.objects.captured():
        turns = {
            f"turn:{key}" for key in Turn.objects.filter(session=session).values_list("public", flat=True)
        }
        names = set(session.sources.filter(name__startswith="turn:").values_list("name", flat=True))
        numbers = list(session.exchanges.order_by("started_at", "pk").values_list("number", flat=True))
        newest = session.exchanges.filter(run__lane_role=LaneRole.MAIN).order_by("number").last()
        lost = Turn.objects.filter(session=session).exclude(parent=None).exclude(parent__session=session)
        rules = {
            "a turn that is none": names <= turns,
            "numbers": numbers == list(range(1, len(numbers) + 1)) and session.exchange_count == len(numbers),
            "the head": newest is None or session.head_id is not None,
            "the head's place": not (newest and newest.turns.exists()) or session.head in newest.turns.all(),
            "a parent elsewhere": not lost.exists(),
            "a run elsewhere": not session.exchanges.all().exclude(run__session=session).exists(),
            "a run of nothing": not session.runs.filter(exchanges=None, turns=None).exists(),
        }
        found += [f"{session.pk}: {name}" for name, holds in rules.items() if not holds]
    for row in CapturedRequest.objects.exclude(exchange=None).select_related("exchange__session"):
        assert row.exchange
        if not row.exchange.session.captured_keys.filter(key=row.session).exists():
            found.append(f"{row.pk}: its key leads elsewhere")
        if not row.exchange.is_faithful():
            found.append(f"{row.pk}: other bytes")
    return found
