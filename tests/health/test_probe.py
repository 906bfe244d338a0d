"""What a probe finds, and what /healthz and /readyz make of it."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from django.db import DatabaseError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries, Settings

from sessions_app.health import probe as module
from sessions_app.health.middleware import health_middleware, version
from sessions_app.health.probe import HealthProbe, ProbeReport, database_state, disk_state, take_report
from sessions_app.models import DatabaseProbe


@pytest.fixture
def probe() -> HealthProbe:
    """One of a process that works, which has just reported."""
    probe = HealthProbe(poll_age=lambda: 1.0, heartbeat_age=lambda: 2.0)
    probe.report = report()
    return probe


def report(database: str = "ok", disk: str = "ok", redis: str = "", age: float = 0.0) -> ProbeReport:
    return ProbeReport(database, disk, redis, time.monotonic() - age)


def ask(path: str, probe: HealthProbe | None, method: str = "GET") -> HttpResponse:
    """Through the middleware, with nothing behind it."""
    request: Any = RequestFactory().generic(method, path)
    request.scope = {"probe": probe}

    def nothing(request: HttpRequest) -> HttpResponse:
        raise AssertionError

    found: HttpResponse = health_middleware(nothing)(request)
    return found


def codes(probe: HealthProbe | None) -> tuple[int, int]:
    return ask("/healthz", probe).status_code, ask("/readyz", probe).status_code


def facts(probe: HealthProbe | None) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(ask("/healthz", probe).content)
    return found


def test_a_healthy_process_says_ok_its_version_and_how_old_that_is(probe: HealthProbe) -> None:
    assert codes(probe) == (200, 200)
    assert facts(probe) == {
        "status": "ok",
        "database": "ok",
        "disk": "ok",
        "heartbeat": "ok",
        "age": 0.0,
        "heartbeat_age": 2.0,
        "version": version(),
    }


def test_before_the_first_probe_it_lives_and_is_not_ready(probe: HealthProbe) -> None:
    probe.report = None
    assert codes(probe) == codes(None) == (200, 503)
    assert facts(probe) == {"status": "starting", "version": version()}


@pytest.mark.parametrize(
    ("failing", "named"),
    [
        (report(database="no answer"), ("database", "no answer")),
        (report(database="full"), ("database", "full")),
        (report(disk="full"), ("disk", "full")),
    ],
)
def test_what_a_restart_does_not_mend_makes_it_unready_and_leaves_it_alive(
    probe: HealthProbe, failing: ProbeReport, named: tuple[str, str]
) -> None:
    probe.report = failing
    assert codes(probe) == (200, 503)
    assert facts(probe)["status"] == "down" and named in facts(probe).items()


def test_a_report_that_is_too_old_is_no_report(probe: HealthProbe) -> None:
    probe.report = report(age=31)
    assert codes(probe) == (200, 503) and facts(probe)["age"] == 31


def test_a_stale_heartbeat_makes_it_unready_and_a_stuck_poller_is_a_case_for_a_restart(
    probe: HealthProbe,
) -> None:
    probe.heartbeat_age = lambda: 16.0
    assert codes(probe) == (200, 503) and facts(probe)["heartbeat"] == "no answer"
    probe.poll_age = lambda: 200.0
    assert codes(probe) == (503, 503)


def test_without_redis_it_serves_on_and_says_degraded(probe: HealthProbe, settings: Settings) -> None:
    settings.REDIS_URL = "redis://:hushhush@127.0.0.1:1/0"
    probe.report = report(redis="no answer")
    assert codes(probe) == (200, 200)
    assert (facts(probe)["status"], facts(probe)["redis"]) == ("degraded", "no answer")
    assert b"hushhush" not in ask("/readyz", probe).content


def test_a_redis_that_is_not_there_does_not_answer(settings: Settings) -> None:
    pytest.importorskip("redis")
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert module.redis_state() == "no answer"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_it_is_never_cached_and_takes_no_post(probe: HealthProbe, path: str) -> None:
    assert "no-store" in ask(path, probe)["Cache-Control"]
    assert ask(path, probe, "POST").status_code == 405 and ask(path, probe, "HEAD").status_code == 200


@pytest.mark.django_db
def test_no_session_no_host_and_no_database_is_asked(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    client = Client(headers={"Host": "10.0.0.7:8000"})
    client.cookies["pipeweb_session"] = "a" * 32
    with django_assert_num_queries(0):
        answer = client.get("/healthz")
    assert answer.status_code == 200 and not answer.cookies


def test_an_answer_costs_little(probe: HealthProbe) -> None:
    ask("/healthz", probe)
    began = time.process_time()
    for _ in range(100):
        ask("/healthz", probe)
    assert (time.process_time() - began) / 100 < 0.05


@pytest.mark.django_db(transaction=True)
def test_a_probe_writes_one_row() -> None:
    for _ in range(2):
        assert take_report().database == "ok"
    assert DatabaseProbe.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("code", "state"),
    [
        (sqlite3.SQLITE_FULL, "full"),
        (sqlite3.SQLITE_READONLY, "read-only"),
        (sqlite3.SQLITE_BUSY, "no answer"),
    ],
)
def test_a_write_that_fails_is_told_without_its_reason(
    monkeypatch: pytest.MonkeyPatch, code: int, state: str
) -> None:
    cause = sqlite3.OperationalError("password of pipeweb at db.example.org is wrong")
    cause.sqlite_errorcode = code

    def broken(*_: object) -> None:
        raise OperationalError(str(cause)) from cause

    monkeypatch.setattr(DatabaseProbe, "write", broken)
    assert database_state() == state


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite only")
def test_a_locked_database_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert database_state() == "ok"
    other = sqlite3.connect(connection.settings_dict["NAME"])
    other.execute("BEGIN IMMEDIATE")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50")
    try:
        assert database_state() == "no answer"
    finally:
        other.rollback()
        other.close()
    assert database_state() == "ok"
    connection.close()


@pytest.mark.parametrize(
    ("total", "free", "state"),
    [
        (10**12, 10**9, "ok"),
        (10**12, 9 * 10**7, "full"),
        (24 * 10**6, 2 * 10**6, "ok"),
        (24 * 10**6, 10**6, "full"),
    ],
)
def test_a_disk_is_full_below_a_share_of_it(
    monkeypatch: pytest.MonkeyPatch, total: int, free: int, state: str
) -> None:
    usage = type("Usage", (), {"total": total, "free": free})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert disk_state() == state


@pytest.fixture
async def running(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HealthProbe]:
    monkeypatch.setattr(module, "PROBE_SECONDS", 0.02)
    probe = HealthProbe(poll_age=lambda: 0.0, heartbeat_age=lambda: 0.0)
    yield probe
    await probe.stop()


async def until(probe: HealthProbe, database: str) -> None:
    for _ in range(3_000):
        if probe.report and probe.report.database == database:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(probe.report)


async def test_a_probe_that_hangs_is_no_answer_until_it_ends(
    running: HealthProbe, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = [True]

    def hang() -> ProbeReport:
        while hangs[0]:
            time.sleep(0.01)
        return report()

    monkeypatch.setattr(module, "take_report", hang)
    running.start()
    await until(running, "no answer")
    hangs[0] = False
    await until(running, "ok")


async def test_a_probe_that_breaks_is_begun_again(
    running: HealthProbe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.runs.background.RESTART_SECONDS", 0)
    reports = [DatabaseError(), TypeError(), None]

    def breaking() -> ProbeReport:
        error = reports.pop(0) if len(reports) > 1 else None
        if error is not None:
            raise error
        return report()

    monkeypatch.setattr(module, "take_report", breaking)
    running.start()
    await until(running, "ok")
