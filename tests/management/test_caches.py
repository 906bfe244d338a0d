"""`manage.py caches` against an emulator over HTTP's own seam: ours are listed, others are never touched."""

import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from sessions_app.context.api_key import FILE_NAME
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.key_codes import KeyOrigin
from sessions_app.management.commands import caches
from sessions_app.models import CacheEntry
from sessions_app.models.cache import deployment
from sessions_app.prompt.caching import EntryReason, display_name
from sessions_app.wording.api_key import ORIGINS
from tests.prices import make_price

MODEL = "gemini-3-flash-preview"
BODY = b'{"contents":[{"role":"user","parts":[{"text":"%b"}]}]}' % (b"All the words of a long brief. " * 200)
Tell = Callable[..., str]


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch, settings: Any, transactional_db: None) -> Emulator:
    emulator = Emulator(delay=0)
    settings.GEMINI_API_KEY = "ours"
    monkeypatch.setattr(caches, "provider_transport", lambda base_url: EmulatorTransport(emulator))
    return emulator


@pytest.fixture
def tell(emulator: Emulator) -> Tell:
    def call(*words: str, **options: Any) -> str:
        said = StringIO()
        call_command("caches", *words, stdout=said, **options)
        return said.getvalue()

    return call


def keep(emulator: Emulator, called: str) -> str:
    async def make() -> str:
        gateway = Gateway(api_key="ours", transport=EmulatorTransport(emulator))
        made = await gateway.create_cache(
            model=MODEL, contents_and_tools=BODY, ttl_seconds=600, display_name=called
        )
        await gateway.aclose()
        return made.name

    return async_to_sync(make)()


def known(emulator: Emulator, letter: str = "a") -> CacheEntry:
    """A cache of ours with its row."""
    name = keep(emulator, display_name(deployment(), letter * 64))
    now = timezone.now()
    return CacheEntry.objects.create(
        fingerprint=letter * 64,
        route="0123456789abcdef",
        model=MODEL,
        name=name,
        tokens=1_900,
        made_at=now - timedelta(minutes=3),
        expires_at=now + timedelta(minutes=10),
        hits=7,
    )


def names(said: str) -> list[str]:
    return re.findall(r"cachedContents/\w+", said)


def test_the_list_shows_ours_and_counts_others(tell: Tell, emulator: Emulator) -> None:
    entry = known(emulator)
    keep(emulator, "somebody else's")
    said = tell()
    assert names(said) == [entry.name] and "3 min" in said and "10 min" in said and " 7 " in said
    assert "1 of this deployment, 1 of others" in said


def test_its_storage_is_priced_as_of_the_day_on_which_it_was_made(tell: Tell, emulator: Emulator) -> None:
    entry = known(emulator)
    made = timezone.now() - timedelta(days=2)
    CacheEntry.objects.filter(pk=entry.pk).update(made_at=made, tokens=1_000_000)
    make_price(MODEL, made.date(), storage="1")
    make_price(MODEL, timezone.now().date(), storage="40")
    assert "$48.00" in tell()


def test_nothing_to_list_is_said(tell: Tell) -> None:
    assert tell("list") == "0 of this deployment, 0 of others with the same key.\n"


def test_ours_are_deleted_and_others_stay(tell: Tell, emulator: Emulator) -> None:
    entry, other = known(emulator), keep(emulator, "somebody else's")
    assert names(tell("delete", "--all-ours")) == [entry.name]
    assert [cache.name for cache in emulator.caches.all()] == [other]
    entry.refresh_from_db()
    assert (entry.state, entry.reason) == (CacheEntry.State.GONE, EntryReason.ADMIN)


def test_the_cache_of_others_cannot_be_named(tell: Tell, emulator: Emulator) -> None:
    other = keep(emulator, "somebody else's")
    for action in ("delete", "extend"):
        with pytest.raises(CommandError, match="is not a cache of this deployment"):
            tell(action, other)
    assert len(emulator.caches.all()) == 1


def test_one_of_ours_is_extended(tell: Tell, emulator: Emulator) -> None:
    entry = known(emulator)
    tell("extend", entry.name, minutes=120)
    entry.refresh_from_db()
    assert entry.expires_at and entry.expires_at > timezone.now() + timedelta(minutes=119)


def test_a_cache_that_lives_longer_is_not_shortened(tell: Tell, emulator: Emulator) -> None:
    entry = known(emulator)
    said = tell("extend", entry.name, "--minutes", "5")
    assert said.startswith(f"Kept {entry.name}") and "Extended" not in said
    (cache,) = emulator.caches.all()
    assert cache.expires > timezone.now() + timedelta(minutes=9)


@pytest.mark.parametrize("minutes", ["-5", "0", "999999999999", "an hour"])
def test_minutes_that_make_no_sense_are_refused(tell: Tell, emulator: Emulator, minutes: str) -> None:
    entry = known(emulator)
    with pytest.raises(CommandError, match="--minutes"):
        tell("extend", entry.name, "--minutes", minutes)


def test_a_name_is_needed(tell: Tell) -> None:
    with pytest.raises(CommandError, match="--all-ours"):
        tell("delete")


def test_what_no_row_knows_is_tidied_away(tell: Tell, emulator: Emulator) -> None:
    keep(emulator, display_name(deployment(), "b" * 64))
    assert "1 deleted" in tell("tidy") and not emulator.caches.all()


def test_a_database_without_tables_ends_it_at_once(
    tell: Tell, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_table() -> bool:
        raise OperationalError("no such table")

    keep(emulator, display_name(deployment(), "b" * 64))
    monkeypatch.setattr(CacheEntry.objects, "exists", no_table)
    with pytest.raises(OperationalError):
        tell("tidy")
    assert len(emulator.caches.all()) == 1, "no row was read, so nothing is unknown"


def test_without_a_key_it_says_where_the_caches_are(settings: Any) -> None:
    settings.GEMINI_API_KEY = ""
    with pytest.raises(CommandError, match="inside the server’s process"):
        call_command("caches")


def test_where_the_key_cannot_be_read_it_says_that(settings: Any, tmp_path: Path) -> None:
    settings.GEMINI_API_KEY, settings.PIPEWEB_DATA = "", tmp_path
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(CommandError) as refused:
        call_command("caches")
    assert str(refused.value) == ORIGINS[KeyOrigin.UNREADABLE]
