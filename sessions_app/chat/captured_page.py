"""The page of a captured session: what programs and the model said, to be read only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sessions_app.chat.transcript import Transcript
from sessions_app.models import CapturedRequest, Session, Turn
from sessions_app.models.branches import is_on_branch, newest_leaf
from sessions_app.wording import capture


@dataclass(frozen=True, slots=True)
class CapturedPage:
    """`address` is the name of the address that the programs asked at; `guesses` counts requests whose place
    in the session is a guess.
    """

    transcript: Transcript
    clients: Sequence[str]
    address: str
    requests: int
    guesses: int

    @classmethod
    def of(cls, session: Session, at: Turn | None = None) -> Self:
        """`at` is a turn the page must show, on any branch."""
        other = newest_leaf(at) if at and not is_on_branch(at, session.head_id) else None
        rows = CapturedRequest.objects.filter(exchange__session=session).order_by("pk")
        facts = list(rows.values_list("client", "address__name", "is_guess"))
        clients = dict.fromkeys(capture.program(client) for client, _, _ in facts)
        return cls(
            Transcript.ending_at(other or session.head, at),
            tuple(clients),
            facts[0][1] if facts else "",
            len(facts),
            sum(is_guess for _, _, is_guess in facts),
        )
