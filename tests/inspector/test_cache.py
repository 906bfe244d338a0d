from datetime import timedelta

from django.test import Client
from django.utils import timezone

from sessions_app.models import CacheEntry, Session
from tests.factories import MODEL, ROUTE, make_exchange, make_run
from tests.inspector.reading import read

PRINT = "f" * 64


def test_a_hit_shows_plan_verdict_and_entry(client: Client, session: Session) -> None:
    soon = timezone.now() + timedelta(hours=1)
    CacheEntry.objects.remember(
        PRINT, model=MODEL, route=ROUTE, name="cachedContents/abc", tokens=1024, expires=soon
    )
    exchange = make_exchange(
        make_run(session),
        cache_action="hit",
        cache_name="cachedContents/abc",
        cache_reason="The static layer and the tools are cached.",
        fingerprint=PRINT,
        verdict="hit",
    )
    page = read(client, exchange, "cache")
    assert "A cache was named instead of sending the static layer. " in page
    assert "The static layer and the tools are cached." in page
    assert "1,024 (85 %)" in page
    assert ">live</span>" in page


def test_a_refusal_shows_the_providers_reason(client: Client, session: Session) -> None:
    CacheEntry.objects.refuse(PRINT, model=MODEL, route=ROUTE, reason="Cached content is too small.")
    exchange = make_exchange(make_run(session), cache_action="none", fingerprint=PRINT)
    page = read(client, exchange, "cache")
    assert ">refused</span> Cached content is too small." in page


def test_without_an_entry_it_says_so(client: Client, session: Session) -> None:
    assert "No cache was ever made" in read(client, make_exchange(make_run(session)), "cache")


def test_the_verdict_of_the_layers_and_the_provider_stand_apart(client: Client, session: Session) -> None:
    words = "The request named a cache, but the provider counted no cached token."
    exchange = make_exchange(make_run(session), cache_name="c", verdict="provider_miss", verdict_words=words)
    page = read(client, exchange, "cache")
    assert "provider miss" in page
    assert words in page
