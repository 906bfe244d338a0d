"""Caches where several processes share them: a race for one lease, a process that dies while a cache is
being made, and `manage.py caches` beside a server, all before an emulator that is a process of its own."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, Exchange, Session
from sessions_app.runs.cache_janitor import reconcile
from tests.conftest import ROOT
from tests.factories import MODEL, make_session

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LIMIT = 90
"""Seconds for a process to come up and end, on a busy machine."""

CLAIMS = 30
RACER = f"""
import django, sys
django.setup()
from sessions_app.models import CacheEntry
print("ready", flush=True)
sys.stdin.readline()
print(*(n for n in range({CLAIMS}) if CacheEntry.objects.claim(f"{{n:064x}}", model="m", route="r")))
"""
TALKER = """
import asyncio, os, sys, uuid
import django
django.setup()
from pipeweb.composition import build_gateway, build_runner
from sessions_app.runs import cache_lifecycle

async def talk(session):
    runner = build_runner(build_gateway())
    await runner.send(session, uuid.uuid4(), "Hello")
    await runner.drain()
    await runner.shutdown()

if sys.argv[2] == "dies":
    # The provider has made the cache, and nothing of it is stored.
    cache_lifecycle._record_created = lambda *_: os._exit(9)
asyncio.run(talk(int(sys.argv[1])))
"""
STRANGERS = b'{"contents":[{"role":"user","parts":[{"text":"%b"}]}]}' % (b"Somebody else's brief. " * 400)


def database_url() -> str:
    """The database under test, for another process."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    authority = f"{given['USER']}:{quote(given['PASSWORD'])}@{given['HOST']}:{given['PORT']}"
    return f"postgres://{authority}/{given['NAME']}"


def start(folder: Path, *command: str, **variables: str) -> subprocess.Popen[str]:
    """A process of this deployment: the same rows, the same secret."""
    environment = {
        "PATH": os.environ["PATH"],
        "PIPEWEB_DATA": str(folder),
        "DATABASE_URL": database_url(),
        "SECRET_KEY": settings.SECRET_KEY,
        "DJANGO_SETTINGS_MODULE": "pipeweb.settings",
        **variables,
    }
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[str]:
    """The address of a stand-alone emulator."""
    process = start(tmp_path, "manage.py", "emulator", "--port", "0", "--delay", "0")
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[3].rstrip(";")
    finally:
        process.terminate()
        process.communicate(timeout=LIMIT)


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice, purpose="Try everything.")


class Deployment:
    """What other processes of this deployment do before this provider."""

    def __init__(self, folder: Path, provider: str) -> None:
        self._folder = folder
        self._provider = {"GEMINI_API_KEY": "ours", "GOOGLE_GEMINI_BASE_URL": provider}
        self.gateway = Gateway(api_key="ours", base_url=provider)

    def talk(self, session: Session, *, dies: bool = False) -> None:
        self._run("-c", TALKER, str(session.pk), "dies" if dies else "", ends=9 if dies else 0)

    def manage(self, *words: str) -> str:
        return self._run("manage.py", "caches", *words, ends=0)

    def _run(self, *command: str, ends: int) -> str:
        process = start(self._folder, *command, **self._provider)
        said, complaints = process.communicate(timeout=LIMIT)
        assert process.returncode == ends, complaints
        return said


@pytest.fixture
async def deployment(tmp_path: Path, provider: str, session: Session) -> AsyncIterator[Deployment]:
    deployment = Deployment(tmp_path, provider)
    yield deployment
    await deployment.gateway.aclose()


async def stranger(gateway: Gateway) -> str:
    """A cache with the same key that is not ours."""
    made = await gateway.create_cache(
        model=MODEL, contents_and_tools=STRANGERS, ttl_seconds=600, display_name="somebody else's"
    )
    return made.name


async def names(gateway: Gateway) -> set[str]:
    return {cache.name for cache in await gateway.list_caches()}


def test_only_one_of_two_processes_creates_a_cache(tmp_path: Path) -> None:
    racers = [start(tmp_path, "-c", RACER) for _ in range(2)]
    assert [racer.stdout.readline() for racer in racers if racer.stdout] == ["ready\n"] * 2
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    ends = [racer.communicate(timeout=LIMIT) for racer in racers]
    won = [int(number) for said, _ in ends for number in said.split()]
    assert sorted(won) == list(range(CLAIMS)), ends


async def test_a_cache_of_a_dead_process_is_adopted_and_used(
    deployment: Deployment, session: Session
) -> None:
    deployment.talk(session, dies=True)
    other, entry = await stranger(deployment.gateway), await CacheEntry.objects.aget()
    (made,) = await names(deployment.gateway) - {other}
    assert (entry.state, entry.name) == (CacheEntry.State.PENDING, "")
    assert (await reconcile(deployment.gateway)).adopted == []
    await CacheEntry.objects.aupdate(leased_until=timezone.now() - timedelta(seconds=1))
    assert (await reconcile(deployment.gateway)).adopted == [made]
    deployment.talk(session)
    last = await Exchange.objects.alatest("pk")
    assert last.cache_name == made and last.cached_tokens
    assert await names(deployment.gateway) == {made, other}


async def test_a_cache_of_a_dead_process_without_a_row_is_deleted(
    deployment: Deployment, session: Session
) -> None:
    deployment.talk(session, dies=True)
    other = await stranger(deployment.gateway)
    await CacheEntry.objects.all().adelete()
    assert len((await reconcile(deployment.gateway)).unknown) == 1
    assert await names(deployment.gateway) == {other}


async def test_a_command_beside_the_server_lists_prolongs_and_deletes(
    deployment: Deployment, session: Session
) -> None:
    deployment.talk(session)
    other, entry = await stranger(deployment.gateway), await CacheEntry.objects.aget()
    listed = deployment.manage("list")
    assert entry.name in listed and "1 of this deployment, 1 of others" in listed
    deployment.manage("extend", entry.name, "--minutes", "90")
    await entry.arefresh_from_db()
    assert entry.expires_at and entry.expires_at > timezone.now() + timedelta(minutes=88)
    assert deployment.manage("delete", "--all-ours") == f"Deleted {entry.name}\n"
    await entry.arefresh_from_db()
    assert entry.state == CacheEntry.State.GONE and await names(deployment.gateway) == {other}
