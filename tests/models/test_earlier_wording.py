"""What the sentences of version 0011 become: text that stays, and codes where a sentence was one of ours."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from sessions_app.models import CacheEntry, Exchange
from sessions_app.wording import sentences
from tests.factories import finish, make_exchange, make_run, make_session

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

BEFORE = "0011_thought_time"
WORDS = {
    "verdict": ("verdict_words", "Our bytes: the same. The provider: 8 of 9 tokens cached."),
    "cache_plan": ("cache_reason", "The static layer and the tools are cached."),
    "strategy": ("strategy_reason", "Explicit, as set for this session."),
}
NOTICE = "85 % of your budget for today is spent ($1.50 left)."


def migrate(name: str = "") -> Any:
    """The models as they are after that migration, by default the newest."""
    executor = MigrationExecutor(connection)
    targets = [("sessions_app", name)] if name else executor.loader.graph.leaf_nodes("sessions_app")
    return executor.migrate(targets).apps


def test_old_sentences_stand_where_they_stood_if_somebody_goes_back_and_are_shown_as_text(
    client: Client, alice: User
) -> None:
    """Going back gives the rows that version 0011 wrote, so that one way back and forth is enough."""
    run = make_run(make_session(alice))
    earlier = {subject: text for subject, (_, text) in WORDS.items()} | {"budget": NOTICE}
    facts: dict[str, Any] = {
        "verdict": "hit",
        "cache_action": "hit",
        "cache_mode": "explicit",
        "money": {"terms": []},
    }
    exchange = make_exchange(run, **facts, earlier_wording=earlier)
    finish(run)
    try:
        old = migrate(BEFORE)
        assert_goes_back(old.get_model("sessions_app", "Exchange").objects.get(pk=exchange.pk))
        make_old_entries(old.get_model("sessions_app", "CacheEntry"))
    finally:
        migrate()
    assert_shown(client, Exchange.objects.get(pk=exchange.pk))


def assert_goes_back(row: Any) -> None:
    assert {column: getattr(row, column) for column, _ in WORDS.values()} == dict(WORDS.values())
    assert row.money == {"terms": [], "notice": NOTICE}


def make_old_entries(model: Any) -> None:
    for state, reason in (
        ("doomed", "An admin asked for it."),
        ("refused", "min_total_token_count=1024"),
        ("gone", "Implicit, as set for this session. History rolls over at 9,000 tokens."),
        ("live", ""),
    ):
        model.objects.create(fingerprint=state, model="m", route="r", state=state, reason=reason)


def assert_shown(client: Client, old_sentences: Exchange) -> None:
    words = {subject: text for subject, (_, text) in WORDS.items()}
    assert old_sentences.earlier_wording == words | {"budget": NOTICE}
    assert (old_sentences.verdict, old_sentences.money) == ("hit", {"terms": []})
    assert old_sentences.found_verdict is None and old_sentences.strategy is None
    tab = client.get(old_sentences.get_absolute_url(), {"tab": "cache"}).content.decode()
    assert all(sentences.earlier_version(text) in tab for text in words.values())
    chat = client.get(old_sentences.session.get_absolute_url()).content.decode()
    assert sentences.earlier_version(NOTICE) in chat
    assert dict(CacheEntry.objects.values_list("state", "reason")) == {
        "doomed": "admin",
        "refused": "provider",
        "gone": "waived",
        "live": "",
    }
    assert CacheEntry.objects.get(state="refused").said == "min_total_token_count=1024"
