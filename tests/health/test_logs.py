"""Whatever happens to a run, the log holds its ids and the class of the error, and no content."""

import asyncio
import gc
import io
import json
import logging.config
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from pytest_django import Settings

from pipeweb.composition import build_runner
from pipeweb.logs import logging_config
from sessions_app import error_codes, errors
from sessions_app.emulator.transport import EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Run, Session
from sessions_app.runs.retry_policy import RetryPolicy
from tests.task_threads import close_task_connections

SECRET = "sesame-7f3a"
"""Part of everything that must not be logged: the message, the purpose, the key, the errors' words."""

KEY = f"AIza-{SECRET}-0123456789abcdef"
CLASSES = [value for value in vars(errors).values() if isinstance(value, type)]
GATEWAY = [kind for kind in CLASSES if issubclass(kind, errors.GatewayError)]
OURS = [kind for kind in CLASSES if issubclass(kind, errors.PipewebError) and kind is not errors.RunWaits]
FAILURES = [*OURS, ValueError, KeyError]
"""Not RunWaits: it ends no run."""

Log = Callable[[], str]


@pytest.fixture
def log(settings: Settings) -> Iterator[Log]:
    """All that a process with everything turned on would write to standard error."""
    settings.DEBUG = True
    written, root = io.StringIO(), logging.getLogger()
    before = (root.handlers[:], root.level)
    config = logging_config("DEBUG", json=True)
    config["handlers"]["stderr"]["stream"] = written
    logging.config.dictConfig(config)
    yield written.getvalue
    logging.config.dictConfig(configured.LOGGING)
    root.handlers[:], root.level = before


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    return Session.objects.create(owner=alice, title=SECRET, purpose=SECRET, model="gemini-3-flash-preview")


class Refusing(Gateway):
    """A provider that fails every request in one way."""

    error: Exception

    @asynccontextmanager
    async def stream(self, model: str, body: bytes, evidence: object = None) -> AsyncIterator[Any]:
        assert SECRET.encode() in body
        raise self.error
        yield


async def answered(session: Session, gateway: Gateway, text: str = f"/slow {SECRET}") -> Run:
    """One message through a runner of its own, to the end."""
    runner = build_runner(gateway, RetryPolicy(tries=1))
    await runner.send(session.pk, uuid.uuid4(), text)
    await runner.drain()
    await runner.shutdown()
    await gateway.aclose()
    await asyncio.to_thread(close_task_connections)
    return await Run.objects.aget(session=session)


def lines(written: str) -> list[dict[str, Any]]:

    return [json.loads(line) for line in written.splitlines()]


async def test_a_good_run_logs_no_content(session: Session, log: Log) -> None:
    run = await answered(session, Gateway(api_key=KEY, transport=EmulatorTransport(delay=0)))
    written = log()
    assert run.status == Run.Status.COMPLETED
    assert written and SECRET not in written


CODED: dict[type[Exception], Callable[[str], Exception]] = {
    errors.OverLimit: lambda _: errors.OverLimit(error_codes.RefusalCode.RUNS_AT_ONCE, used=1, limit=1),
    errors.NotImportable: lambda words: errors.NotImportable(error_codes.ImportProblem.WRONG, where=words),
    errors.RunEnded: lambda _: errors.RunEnded(),
    errors.BodyRefused: lambda _: errors.BodyRefused(413, error_codes.BodyRefusal.TOO_LARGE),
    errors.RelayRefused: lambda _: errors.RelayRefused(error_codes.CaptureFault.LIVE),
}
"""Errors with figures of their own."""


def failure(kind: type[Exception], words: str) -> Exception:
    """An error of this class that holds `words` wherever it can."""
    if kind in CODED:
        return CODED[kind](words)
    if issubclass(kind, errors.StorageRefuses):
        return kind()
    if issubclass(kind, errors.RequestRefused):
        return kind(error_codes.RefusalCode.HISTORY_INVALID, violations=words)
    return kind(words, details={"body": SECRET}) if kind in GATEWAY else kind(words)


@pytest.mark.parametrize("kind", FAILURES, ids=lambda kind: kind.__name__)
async def test_a_failed_run_logs_its_ids_and_class_and_no_content(
    session: Session, log: Log, kind: type[Exception]
) -> None:
    gateway = Refusing(api_key=KEY)
    words = f"{SECRET} was refused with {KEY}"
    gateway.error = failure(kind, words)
    run = await answered(session, gateway)
    written = log()
    told = [line for line in lines(written) if line.get("run") == str(run.public)]
    assert run.status == Run.Status.FAILED
    assert SECRET not in written
    assert any(line["session"] == str(session.public) and kind.__name__ in str(line) for line in told)


def test_the_words_of_an_error_are_left_out_and_its_place_is_kept(log: Log) -> None:
    try:
        int(SECRET)
    except ValueError:
        logging.getLogger("anything").exception("it broke")
    (line,) = lines(log())
    assert line["event"] == "it broke" and SECRET not in str(line)
    assert "builtins.ValueError" in line["exception"] and "test_logs.py" in line["exception"]


def test_a_cause_is_named_without_its_words(log: Log) -> None:
    try:
        raise RuntimeError(SECRET) from KeyError(SECRET)
    except RuntimeError as error:
        logging.getLogger("anything").error("Exception inside application: %s", error, exc_info=error)
    (line,) = lines(log())
    assert line["event"] == "Exception inside application: RuntimeError"
    assert "builtins.KeyError" in line["exception"] and SECRET not in str(line)


async def test_a_lost_task_is_told_without_the_words_of_its_error(log: Log) -> None:
    async def fail() -> None:
        raise ValueError(SECRET)

    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    del task
    gc.collect()
    told = [line for line in lines(log()) if "never retrieved" in line["event"]]
    assert told and SECRET not in str(told)


@pytest.mark.django_db
def test_statements_to_the_database_stay_silent(log: Log) -> None:
    User.objects.filter(username=SECRET).exists()
    assert SECRET not in log()


def test_a_sign_in_token_is_cut_out(log: Log) -> None:
    logging.getLogger("django.request").warning("Not Found: %s", f"/sign-in/{SECRET}")
    assert lines(log())[0]["event"] == "Not Found: /sign-in/…"


def test_the_token_of_an_address_for_programs_is_cut_out(log: Log) -> None:
    logging.getLogger("django.request").warning("Not Found: %s", f"/capture/{SECRET}/v1beta/models")
    assert lines(log())[0]["event"] == "Not Found: /capture/…/v1beta/models"
