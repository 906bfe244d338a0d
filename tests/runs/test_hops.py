"""Answers that take several requests: CONTINUATION with its token (gemini-wire, "Long decode")."""

from collections.abc import Sequence

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from google import genai
from google.genai import types

from sessions_app.error_codes import RefusalCode
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Session, Turn
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.verdict import VerdictReason
from sessions_app.runs import limits
from sessions_app.runs.runner import Runner
from tests.prompt.examples import SIGNATURE, call, chunk, text
from tests.runs.conftest import Ask
from tests.runs.hops import Hops, answer, done, exchanges_of, paused, turns_of
from tests.runs.running import running, send

TABS = ("layers", "response", "cache", "pipeline", "wire", "stream", "diff", "signatures", "renditions")

Hop = Sequence[bytes] | int


async def test_an_answer_goes_on_with_its_token_until_it_is_done(session: Session) -> None:
    run, provider, _ = await answer(
        session,
        [chunk(text("One ")), paused(text("two "))],
        [chunk(text("three ")), paused(text("four "), token="dHdv")],
        [done(text("five.")), done(text("", thoughtSignature=SIGNATURE))],
    )
    _, turn = await turns_of(session)
    assert (run.status, run.outcome, turn.cut) == ("completed", "complete", False)
    assert [part.raw for part in turn.parts] == [
        {"text": "One two three four five."},
        {"text": "", "thoughtSignature": SIGNATURE},
    ]
    first, *rest = provider.bodies
    assert [body.pop("continuationToken") for body in rest] == ["YS9i-w==", "dHdv"]
    assert rest == [first, first]


async def test_each_hop_is_an_exchange_with_its_own_bytes_and_bill(session: Session) -> None:
    await answer(session, [paused(text("a"))], [paused(text("b"), token="dHdv")], [done(text("c"))])
    one, two, three = await exchanges_of(session)
    assert [row.outcome for row in (one, two, three)] == ["continues", "continues", "complete"]
    assert [row.continues for row in (one, two, three)] == [None, one, two]
    assert [row.output_tokens for row in (one, two, three)] == [10, 10, 10]
    assert {row.step for row in (one, two, three)} == {1}
    assert all([await sync_to_async(row.is_faithful)() for row in (one, two, three)])
    await session.arefresh_from_db()
    assert session.prompt_tokens == 300


async def test_a_hop_is_no_broken_prompt(session: Session) -> None:
    await answer(session, [paused(text("a"))], [done(text("b"))])
    _, hop = await exchanges_of(session)
    assert (hop.verdict, hop.break_line) == (VerdictCode.CONTINUED, {})
    verdict = hop.found_verdict
    assert verdict is not None and verdict.reason is VerdictReason.CONTINUED
    assert verdict.seen is not None and verdict.seen.number == 1


async def test_the_wire_form_is_that_of_the_sdk(session: Session) -> None:
    _, provider, _ = await answer(session, [paused(text("a"))], [done(text("b"))])
    sdk = Hops([paused(text("a"))], [done(text("b"))])
    client = genai.Client(api_key="k3y", http_options=types.HttpOptions(async_client_args={"transport": sdk}))
    async for _ in await client.aio.models.generate_content_stream(model="gemini-4-argon", contents="x"):
        pass
    assert sdk.bodies[1]["continuationToken"] == provider.bodies[1]["continuationToken"]
    # The SDK also adds an empty generationConfig.
    assert set(sdk.bodies[1]) - set(sdk.bodies[0]) - {"generationConfig"} == {"continuationToken"}


async def test_a_hop_of_thoughts_only_is_followed_by_its_answer(session: Session) -> None:
    run, _, events = await answer(
        session,
        [paused(text("Hm.", thought=True))],
        [done(text("Yes.")), done(text("", thoughtSignature=SIGNATURE))],
    )
    _, turn = await turns_of(session)
    assert run.status == "completed"
    assert [part.kind for part in turn.parts] == ["thought", "text", "text"]
    assert [event["type"] for event in events].count("thought") == 1


async def test_a_signature_keeps_the_text_of_two_hops_apart(session: Session) -> None:
    await answer(session, [paused(text("a", thoughtSignature=SIGNATURE))], [done(text("b"))])
    _, turn = await turns_of(session)
    assert [part.raw for part in turn.parts] == [
        {"text": "a", "thoughtSignature": SIGNATURE},
        {"text": "b"},
    ]


async def test_calls_of_a_later_hop_are_run(session: Session) -> None:
    run, provider, events = await answer(
        session,
        [paused(text("I look it up. "))],
        [done(call("current_time", SIGNATURE))],
        [done(text("It is late."))],
    )
    kinds = [turn.kind for turn in await turns_of(session)]
    assert (run.status, kinds) == (
        "completed",
        ["user_task", "function_calling", "tool_response", "model_response"],
    )
    assert [event["step"] for event in events if event["type"] in ("call", "result")] == [1, 1]
    sent = provider.bodies[2]
    assert "continuationToken" not in sent
    assert [list(part) for part in sent["contents"][-2]["parts"]] == [
        ["text"],
        ["functionCall", "thoughtSignature"],
    ]


async def test_a_hop_that_fails_is_asked_again_from_its_token(session: Session) -> None:
    run, provider, _ = await answer(session, [paused(text("One "))], 503, [done(text("two."))])
    _, turn = await turns_of(session)
    assert (run.status, turn.text) == ("completed", "One two.")
    assert [body.get("continuationToken") for body in provider.bodies] == [None, "YS9i-w==", "YS9i-w=="]
    _, failed, again = await exchanges_of(session)
    assert failed.error and again.continues_id == failed.continues_id


async def test_what_came_before_a_hop_that_fails_is_kept(session: Session) -> None:
    run, _, _ = await answer(session, [paused(text("One "))], 400)
    _, turn = await turns_of(session)
    assert (run.status, turn.text, turn.cut) == ("failed", "One ", True)


async def test_a_hop_that_breaks_keeps_the_text_of_all_hops(session: Session) -> None:
    run, _, _ = await answer(session, [paused(text("One "))], [chunk(text("two")), b"[]"])
    _, turn = await turns_of(session)
    assert (run.status, turn.text, turn.cut) == ("failed", "One two", True)


async def test_a_stop_in_a_later_hop_keeps_the_text_of_all(session: Session) -> None:
    provider = Hops([paused(text("One "))], [chunk(text("two")), None])
    async with running(Gateway(api_key="k3y-of-a-test", transport=provider)) as runner:
        public = await send(runner, session, "Go")
        await provider.stalled.wait()
        await runner.stop(session.pk, public)
        await runner.drain()
    _, turn = await turns_of(session)
    assert (turn.text, turn.cut) == ("One two", True)


@pytest.mark.parametrize("stopped_after", ["one", "two"])
async def test_a_limit_between_hops_keeps_what_arrived(session: Session, stopped_after: str) -> None:
    hops = [[paused(text("One "))], [paused(text("two"), token="dHdv")], [done(text("never"))]]
    most = 100 if stopped_after == "one" else 200
    run, provider, _ = await answer(session, *hops, max_tokens=most)
    _, turn = await turns_of(session)
    assert run.error["reason"] == RefusalCode.MAX_TOKENS
    assert (turn.text, turn.cut) == ("One " if stopped_after == "one" else "One two", True)
    assert len(provider.bodies) == (1 if stopped_after == "one" else 2)


async def test_a_session_without_a_limit_of_rounds_left_may_still_be_answered(session: Session) -> None:
    run, _, _ = await answer(
        session,
        [done(call("current_time", SIGNATURE))],
        [paused(text("One "))],
        [done(text("two."))],
        max_rounds=1,
    )
    assert run.status == "completed"


async def test_hops_without_end_are_ended(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HOP_LIMIT", 3)
    hops = [[paused(text("a"), token=f"dG{number}=")] for number in range(10, 20)]
    run, provider, _ = await answer(session, *hops)
    assert (run.error["reason"], len(provider.bodies)) == (RefusalCode.MAX_HOPS, 3)


async def test_the_same_token_again_is_no_progress(session: Session) -> None:
    run, provider, _ = await answer(session, [paused(text("a"))], [paused(text("b"))])
    _, turn = await turns_of(session)
    assert (run.outcome, len(provider.bodies)) == (Outcome.UNFINISHED, 2)
    assert (turn.text, turn.cut) == ("ab", True)


async def test_the_budget_is_asked_before_each_hop(session: Session) -> None:
    run, provider, _ = await answer(session, [paused(text("One"))], [done(text("two"))], budget_usd=0.000001)
    _, turn = await turns_of(session)
    assert (run.error["reason"], len(provider.bodies)) == (RefusalCode.BUDGET_SPENT, 1)
    assert (turn.text, turn.cut) == ("One", True)


async def test_the_next_message_follows_the_whole_answer(session: Session) -> None:
    await answer(session, [paused(text("One "))], [done(text("two."))])
    _, provider, _ = await answer(session, [done(text("Yes."))], message="More?")
    assert provider.bodies[0]["contents"][-2]["parts"] == [{"text": "One two."}]
    *_, hop, following = await exchanges_of(session)
    assert following.previous_id == hop.pk


async def test_an_emulator_plays_hops_thoughts_and_failures(
    runner: Runner, session: Session, ask: Ask
) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(model="gemini-4-argon")
    plain = await ask("Tell me of the sea")
    for command, hops in (("/continue 4", 4), ("/ponder", 2)):
        run = await ask(f"Tell me of the sea {command}")
        turn = await Turn.objects.select_related("content").aget(exchange__run=run)
        assert (run.status, await run.exchanges.acount()) == ("completed", hops)
        assert turn.text and turn.parts[-1].signature
    run = await ask("Tell me of the sea /continue /failhop 400")
    assert (run.status, (await Turn.objects.aget(exchange__run=run)).cut) == ("failed", True)
    assert plain.status == "completed"


async def test_every_tab_of_a_hop_opens(session: Session, async_client: AsyncClient) -> None:
    await answer(session, [paused(text("One "))], [done(text("two."))])
    _, hop = await exchanges_of(session)
    await async_client.aforce_login(await sync_to_async(lambda: session.owner)())
    for tab in TABS:
        page = await async_client.get(hop.get_absolute_url(), {"tab": tab})
        assert page.status_code == 200, tab
        assert "Goes on with the answer of" in page.content.decode()
