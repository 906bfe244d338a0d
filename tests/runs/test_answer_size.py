"""The bound on an answer holds over all of its hops."""

import pytest

from sessions_app.error_codes import RefusalCode
from sessions_app.gemini import bounds
from sessions_app.models import Session
from tests.prompt.examples import text
from tests.runs.hops import answer, done, paused, turns_of

LIMIT = 20_000


async def test_an_answer_over_its_hops_is_bounded_and_kept_up_to_there(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "ANSWER_LIMIT", LIMIT)
    hops = [[paused(text("a" * 9_000), token=f"dG{number}=")] for number in range(10, 15)]
    run, provider, _ = await answer(session, *hops, [done(text("b"))])
    _, turn = await turns_of(session)
    assert (run.status, run.error["reason"]) == ("failed", RefusalCode.ANSWER_TOO_LARGE)
    assert len(provider.bodies) == 3
    assert (turn.wire.count(b"a" * 9_000), turn.cut) == (2, True)


async def test_each_answer_of_a_run_has_its_own_bound(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "ANSWER_LIMIT", LIMIT)
    call = {"functionCall": {"name": "current_time", "args": {}}}
    run, _, _ = await answer(
        session, [done(text("a" * 15_000), call)], [paused(text("b" * 15_000))], [done(text("c"))]
    )
    assert run.status == "completed"
