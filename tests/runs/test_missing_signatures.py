"""A reply that ends with MISSING_THOUGHT_SIGNATURE is the refusal that a 400 can be."""

from typing import Any

from asgiref.sync import sync_to_async

from sessions_app.models import Session
from sessions_app.prompt.outcomes import Outcome
from tests.prompt.examples import SIGNATURE, call, chunk, text
from tests.runs.hops import USAGE, answer, done, exchanges_of
from tests.runs.refusing import DUMMY, signatures_of

UNSIGNED = [done(call("current_time"))]
MISSING = [chunk(finishReason="MISSING_THOUGHT_SIGNATURE")]


async def asked(session: Session, *hops: Any) -> Any:
    await Session.objects.filter(pk=session.pk).aupdate(model="gemini-2.5-flash")
    return await answer(session, *hops)


async def test_the_request_goes_out_once_more_with_the_dummy(session: Session) -> None:
    run, provider, events = await asked(session, UNSIGNED, MISSING, [done(text("It is late."))])
    assert (run.status, len(provider.bodies)) == ("completed", 3)
    assert [[*signatures_of(body)] for body in provider.bodies] == [[], [], [DUMMY]]
    _, refused, resent = await exchanges_of(session)
    assert (refused.outcome, resent.resend_of_id) == (Outcome.MISSING_SIGNATURE, refused.pk)
    assert refused.error["kind"] == "SignatureMissing"
    assert refused.prompt_tokens == USAGE["promptTokenCount"]
    assert await sync_to_async(resent.is_faithful)()
    assert any(event["type"] == "status" for event in events)


async def test_a_second_one_ends_the_run(session: Session) -> None:
    run, provider, _ = await asked(session, UNSIGNED, MISSING, MISSING)
    assert (run.status, run.outcome, len(provider.bodies)) == ("failed", Outcome.MISSING_SIGNATURE, 3)


async def test_a_reply_that_was_seen_is_not_asked_for_again(session: Session) -> None:
    seen = [chunk(text("I"), finishReason="MISSING_THOUGHT_SIGNATURE")]
    run, provider, _ = await asked(session, UNSIGNED, seen)
    assert (run.status, len(provider.bodies)) == ("failed", 2)


async def test_signed_calls_are_sent_as_they_were(session: Session) -> None:
    run, provider, _ = await asked(session, [done(call("current_time", SIGNATURE))], MISSING)
    assert (run.status, len(provider.bodies)) == ("failed", 2)
