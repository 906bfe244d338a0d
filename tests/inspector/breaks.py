"""Exchanges whose request leaves the one before it."""

from typing import Any

from sessions_app.models import Exchange, Session
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.static_change import RolledHistory, StaticChange
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.runs.comparison import compare_with_previous
from tests.factories import finish, make_exchange, make_run

ROLLED = RolledHistory(1, 12, 1, 1)
ROLLED_BREAK = BreakLine(BreakKind.CHANGED, "static", "template:static", 0, None, "", "", ",")


def broken_exchange(session: Session, *, purpose: str, **facts: Any) -> Exchange:
    """A second request with another purpose: `facts` are its columns."""
    session.purpose = "Book <b>flights</b>."
    first = make_exchange(make_run(session))
    finish(first.run)
    session.purpose = purpose
    second = make_exchange(make_run(session), previous=first, **facts)
    finish(second.run)
    compare_with_previous(second)
    second.save()
    return second


def rolled_over_exchange(session: Session) -> Exchange:
    """The first after a roll-over: its break line is a changed static layer, its verdict says why."""
    seen = Comparison(1, 9, 99, 9, 5.0, static=StaticChange.ROLLED_OVER, rolled=ROLLED)
    verdict = Verdict(VerdictReason.ROLLED_OVER, seen, cached=0, prompt=9_000)
    return make_exchange(
        make_run(session),
        verdict=verdict.code,
        verdict_figures=verdict.stored(),
        break_line=ROLLED_BREAK.stored(),
    )
