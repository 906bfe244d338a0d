"""What the sentences of version 0011 become: text that stays, and codes where a sentence was one of ours."""

from typing import Any

import pytest
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


@pytest.fixture
def old_sentences(client: Client, alice: Any) -> Exchange:
    """An exchange and cache entries as version 0011 wrote them, migrated."""
    run = make_run(make_session(alice))
    exchange = make_exchange(run, verdict="hit", cache_action="hit", cache_mode="explicit")
    finish(run)
    try:
        old = migrate(BEFORE)
        sentences = dict(WORDS.values())
        rows = old.get_model("sessions_app", "Exchange").objects.filter(pk=exchange.pk)
        rows.update(**sentences, money={"terms": [], "notice": NOTICE})
        entries = old.get_model("sessions_app", "CacheEntry").objects
        for state, reason in (
            ("doomed", "An admin asked for it."),
            ("refused", "min_total_token_count=1024"),
            ("gone", "Implicit, as set for this session. History rolls over at 9,000 tokens."),
            ("live", ""),
        ):
            entries.create(fingerprint=state, model="m", route="r", state=state, reason=reason)
    finally:
        migrate()
    return Exchange.objects.get(pk=exchange.pk)


def test_old_sentences_are_shown_as_text_and_stand_where_they_stood_if_somebody_goes_back(
    client: Client, old_sentences: Exchange
) -> None:
    assert_shown(client, old_sentences)
    try:
        row = migrate(BEFORE).get_model("sessions_app", "Exchange").objects.get(pk=old_sentences.pk)
        assert {column: getattr(row, column) for column, _ in WORDS.values()} == dict(WORDS.values())
        assert row.money["notice"] == NOTICE
    finally:
        migrate()


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
