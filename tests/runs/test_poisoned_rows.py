"""A row that cannot be worked on is named in the log; the periodic tasks go on with the others."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import GatewayError
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, CacheEvent, Exchange, RawChunk, Run, RunLog, Session
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.runs import cache_janitor
from sessions_app.runs.cache_bookings import record_end
from sessions_app.runs.cache_janitor import CacheJanitor, apply_requested_changes
from sessions_app.runs.recorder import close_run
from sessions_app.runs.run_poller import RunPoller, erase_left_behind
from sessions_app.runs.runner import Runner
from tests.factories import make_exchange, make_run, make_session
from tests.runs.conftest import Ask
from tests.runs.running import until

DEEP = b'{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"a","args":%b}}]}}]}' % (
    b'{"a":' * 900 + b"1" + b"}" * 900
)
"""A call whose arguments are nested deeper than JSON can be written again."""

LONG_AGO = timedelta(minutes=1)


def expired_temporary(session: Session, *chunks: bytes) -> Run:
    """A run of a dead process, which had received these chunks."""
    run = make_run(session)
    exchange = make_exchange(run, [])
    RawChunk.objects.bulk_create(
        RawChunk(exchange=exchange, seq=seq, ms=1.0, body=body) for seq, body in enumerate(chunks)
    )
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None)
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - LONG_AGO)
    return run


@pytest.fixture
def poisoned(session: Session, alice: User) -> Run:
    return expired_temporary(make_session(alice), DEEP)


@pytest.fixture
def innocent(poisoned: Run, alice: User) -> Run:
    """Comes after the poisoned one, in whatever order they are ended."""
    return expired_temporary(make_session(alice))


@pytest.fixture
def refused(poisoned: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose end cannot be told."""

    def broken(pk: int, *args: Any, **named: Any) -> Any:
        if pk == poisoned.pk:
            raise RecursionError
        return close_run(pk, *args, **named)

    monkeypatch.setattr("sessions_app.runs.run_end.close_run", broken)
    return poisoned


@pytest.fixture
def alive(runner: Runner, session: Session, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of this process."""
    run = make_run(session)
    monkeypatch.setattr(runner, "live_runs", {run.pk: None})
    return run


@pytest.fixture
async def watch(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunPoller]:
    monkeypatch.setattr("sessions_app.runs.run_poller.POLL_SECONDS", 0.02)
    monkeypatch.setattr("sessions_app.runs.run_poller.HEARTBEAT_POLLS", 1)
    monkeypatch.setattr("sessions_app.runs.processes.SURE_SECONDS", 0.0)
    watch = RunPoller(runner)
    yield watch
    await watch.stop()


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    messages = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    return [message for message in messages if message.get("event") == event]


async def is_over(run: Run) -> bool:
    return not (await Run.objects.aget(pk=run.pk)).is_active


async def test_a_run_that_cannot_be_folded_ends_all_the_same(
    watch: RunPoller, runner: Runner, poisoned: Run, innocent: Run, caplog: pytest.LogCaptureFixture
) -> None:
    watch.start()
    await until(lambda: is_over(poisoned))
    await until(lambda: is_over(innocent))
    found = await Run.objects.aget(pk=poisoned.pk)
    assert (found.status, found.error["kind"]) == (Run.Status.INTERRUPTED, "RunError")
    exchange = await poisoned.exchanges.aget()
    assert not exchange.is_open and await exchange.chunks.acount() == 1
    assert [line["run"] for line in logged(caplog, "fold_failed")] == [poisoned.pk]
    await runner.send(poisoned.session_id, uuid.uuid4(), "And now?")
    await runner.drain()
    assert (await poisoned.session.runs.alast()).status == Run.Status.COMPLETED  # type: ignore[union-attr]


async def test_a_run_that_cannot_be_ended_keeps_no_other_from_its_end(
    watch: RunPoller, refused: Run, innocent: Run, alive: Run, caplog: pytest.LogCaptureFixture
) -> None:
    before = timezone.now()
    watch.start()
    await until(lambda: is_over(innocent))
    await until(lambda: Run.objects.filter(pk=alive.pk, heartbeat_at__gt=before).aexists())
    await until(lambda: is_over(refused))
    assert [line["run"] for line in logged(caplog, "close_failed")] == [refused.pk]
    found = await Run.objects.aget(pk=refused.pk)
    assert (found.status, found.error) == (Run.Status.INTERRUPTED, {"kind": "RunError"})
    assert found.ended_at and not await refused.exchanges.filter(ended_at=None).aexists()
    last = await RunLog.objects.filter(run=refused).alatest("seq_to")
    assert last.wires[-1].startswith('{"run"') and "finished" in last.wires[-1]


async def test_a_run_that_cannot_even_be_updated_is_logged_once_and_keeps_no_other(
    watch: RunPoller,
    innocent: Run,
    poisoned: Run,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries = 0

    def broken(pk: int, *args: Any, **named: Any) -> Any:
        nonlocal tries
        if pk == poisoned.pk:
            tries += 1
            raise TypeError
        return close_run(pk, *args, **named)

    monkeypatch.setattr("sessions_app.runs.processes.end_run", broken)
    watch.start()
    await until(lambda: is_over(innocent))

    async def tried_again() -> bool:
        return tries > 3

    await until(tried_again)
    assert [line["run"] for line in logged(caplog, "reap_failed")] == [poisoned.pk]


async def test_stop_ends_a_run_whose_call_cannot_be_shown(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("sessions_app.runs.recorder._end_exchange", broken)
    monkeypatch.setattr("sessions_app.runs.run_streams.LiveRun.show", broken)
    assert (await ask("Hello")).status == Run.Status.FAILED


async def test_the_heartbeat_survives_whatever_a_look_raises(
    watch: RunPoller, innocent: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    poll, looks = watch.poll, 0

    async def broken(**named: Any) -> None:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise TypeError
        await poll(**named)

    monkeypatch.setattr(watch, "poll", broken)
    watch.start()
    await until(lambda: is_over(innocent))
    assert looks > 2 and len(logged(caplog, "poll_failed")) == 1


async def test_a_log_that_cannot_be_read_hides_no_other_page(
    runner: Runner, session: Session, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    other = await sync_to_async(make_session)(alice)
    pages = [runner.follow(each.pk, None, -1) for each in (session, other)]
    waiting = [asyncio.ensure_future(anext(page)) for page in pages]
    await asyncio.sleep(0.05)
    runs = [await sync_to_async(make_run)(each) for each in (session, other)]
    await RunLog.objects.acreate(run=runs[0], seq_from=0, seq_to=0, body=b"\xff")
    await RunLog.objects.acreate(run=runs[1], seq_from=0, seq_to=0, body=b'{"type":"started"}')
    await RunPoller(runner).poll()
    feed, _, _ = await asyncio.wait_for(waiting[1], 60)
    assert feed is not None and feed.public == runs[1].public
    assert [line["run"] for line in logged(caplog, "remote_run_failed")] == [str(runs[0].public)]
    waiting[0].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    for page in pages:
        await page.aclose()


def test_a_session_that_cannot_be_erased_keeps_no_other(
    session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    old = timezone.now() - timedelta(days=2)
    doomed, kept = [make_session(session.owner, temporary=True, updated_at=old) for _ in range(2)]
    erase = Session.erase

    def broken(self: Session) -> None:
        if self.pk == kept.pk:
            raise RecursionError
        erase(self)

    monkeypatch.setattr(Session, "erase", broken)
    erase_left_behind()
    assert not Session.objects.filter(pk=doomed.pk).exists()
    assert [line["session"] for line in logged(caplog, "erase_failed")] == [str(kept)]


async def test_an_errand_that_breaks_keeps_no_other(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = Gateway(api_key="ours", transport=EmulatorTransport(Emulator(delay=0)))
    for name in ("bad", "good"):
        fields = {"name": f"cachedContents/{name}", "state": CacheEntry.State.TO_DELETE}
        await CacheEntry.objects.acreate(fingerprint=name, route=gateway.route, model="m", **fields)

    def broken(entry: CacheEntry, reason: str, said: str) -> None:
        if entry.fingerprint == "bad":
            raise TypeError
        record_end(entry, reason, said)

    monkeypatch.setattr(cache_janitor, "record_end", broken)
    assert await apply_requested_changes(gateway) == 2
    states = dict([row async for row in CacheEntry.objects.values_list("fingerprint", "state")])
    assert states == {"bad": "doomed", "good": "gone"}
    assert [line["cache"] for line in logged(caplog, "errand_failed")] == ["cachedContents/bad"]
    await gateway.aclose()


async def test_an_expiry_is_recorded_by_a_round_though_the_provider_is_away(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is of another provider, the provider of this process refuses, and nobody asks."""
    ended = timezone.now() - timedelta(hours=1)
    entry = await CacheEntry.objects.acreate(
        fingerprint="f", route="other", model="m", name="cachedContents/f", expires_at=ended
    )

    async def refused(_: Gateway) -> int:
        raise GatewayError("No.")

    monkeypatch.setattr(cache_janitor, "apply_requested_changes", refused)
    gateway = Gateway(api_key="ours", transport=EmulatorTransport(Emulator(delay=0)))
    janitor = CacheJanitor(lambda: gateway)
    janitor.start()
    events = CacheEvent.objects.filter(entry=entry, kind=CacheEventKind.EXPIRED, at=ended)
    await until(events.aexists)
    await janitor.stop()
    await gateway.aclose()


async def test_the_janitor_survives_whatever_a_round_raises(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rounds = 0

    async def broken(_: Gateway) -> int:
        nonlocal rounds
        rounds += 1
        raise TypeError

    async def came_twice() -> bool:
        return rounds > 1

    monkeypatch.setattr(cache_janitor, "apply_requested_changes", broken)
    monkeypatch.setattr(cache_janitor, "ROUND_SECONDS", 0.01)
    gateway = Gateway(api_key="ours", transport=EmulatorTransport(Emulator(delay=0)))
    janitor = CacheJanitor(lambda: gateway)
    janitor.start()
    await until(came_twice)
    assert len(logged(caplog, "round_failed")) == 1
    await janitor.stop()
    await gateway.aclose()
