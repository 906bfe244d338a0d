"""Played sessions that have each cause of a loss: it is found, with its sum, and the audit agrees."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import Sum
from django.utils import timezone

from sessions_app.inspector.savings import _lossy, missed_of, savings_in
from sessions_app.models import Blob, Turn
from sessions_app.prompt.saving_causes import SavingCause
from sessions_app.prompt.savings import Saving, Savings
from sessions_app.prompt.turns import TurnKind
from sessions_app.wording import break_lines
from tests.matrix.conftest import Begin
from tests.matrix.played_session import OTHER_MODEL, TALK, PlayedSession
from tests.prices import make_price
from tests.runs.scripted_session import LONG, MODEL


def lose_signatures(played: PlayedSession) -> None:
    """The provider refused what the first answer of the model was signed with."""
    answer = Turn.objects.filter(session=played.session, kind=TurnKind.FUNCTION_CALLING).earliest("pk")
    Turn.objects.filter(pk=answer.pk).update(refused_in=played.newest().number)


def change_what_it_said(played: PlayedSession) -> None:
    """The words of the first answer are others in the database, which no page can do."""
    answer = Turn.objects.filter(session=played.session, kind=TurnKind.FUNCTION_CALLING).earliest("pk")
    other = answer.wire.replace(b"I need tools.", b"I want tools.")
    key = next(iter(Blob.objects.store(played.session.owner_id, [other]).values()))
    Turn.objects.filter(pk=answer.pk).update(content=key)


def word_anew(played: PlayedSession) -> None:
    """The first message is worded anew: what followed it is on another branch."""
    asked = Turn.objects.filter(session=played.session, kind=TurnKind.USER_TASK).earliest("pk")
    text = f"task=e1 rounds=0 calls=1 {TALK * 2}"
    played.run(played.process.runner.edit(played.session.pk, uuid.uuid4(), asked.public, text))


def withhold_with_other_settings(played: PlayedSession) -> None:
    played.change_settings()
    played.withhold()


def forget(played: PlayedSession) -> None:
    played.idle()
    played.withhold()


def shorten(played: PlayedSession) -> None:
    played.change(background="Be brief.")


IMPLICIT: dict[SavingCause, Callable[[PlayedSession], None]] = {
    SavingCause.SYSTEM_TEXT: PlayedSession.edit_text,
    SavingCause.TOOLS: PlayedSession.change_tools,
    SavingCause.CONTEXT_FIRST: PlayedSession.change_panel,
    SavingCause.HISTORY: word_anew,
    SavingCause.IMPLICIT_LIFE: forget,
    SavingCause.OTHER_MODEL: PlayedSession.change_model,
    SavingCause.SETTINGS: withhold_with_other_settings,
    SavingCause.PROVIDER: PlayedSession.withhold,
    SavingCause.BELOW_MINIMUM: shorten,
}
"""What is done between two requests, of which the first was served from an implicit cache."""


def found_in(played: PlayedSession) -> Savings:
    played.session.refresh_from_db()
    return savings_in(played.session, timezone.now())


def row(savings: Savings, cause: SavingCause) -> Saving:
    return next(one for one in savings.causes if one.cause is cause)


@pytest.fixture
def implicit(begin: Begin) -> PlayedSession:
    """Three answers, the later ones from the provider's own cache."""
    for model in (MODEL, OTHER_MODEL):
        make_price(model)
    played = begin(LONG, cache_mode="implicit", tools=["add_todo"])
    played.talk(rounds=1)
    for _ in range(2):
        played.talk(more=TALK)
    assert played.newest().cached_tokens
    return played


@pytest.mark.parametrize("cause", IMPLICIT)
def test_a_loss_has_its_cause(implicit: PlayedSession, cause: SavingCause) -> None:
    IMPLICIT[cause](implicit)
    implicit.talk()
    implicit.withhold(False)
    lossy, savings = implicit.session.exchanges.get(lost_tokens__gt=0), found_in(implicit)
    saving = row(savings, cause)
    assert (saving.largest, saving.requests) == (lossy.number, 1)
    assert (saving.tokens, saving.usd) == (lossy.lost_tokens, lossy.lost_usd)
    assert [one.cause for one in savings.causes] == [cause]
    assert not list(implicit.wrong_savings())


@pytest.mark.parametrize("is_only", [True, False])
def test_a_signature_that_does_not_go_back(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, is_only: bool
) -> None:
    """The emulator compares no signatures: it is made to miss, as a provider that does."""
    monkeypatch.setattr("sessions_app.prompt.strategy.implicit_tail", lambda *_: 1e9)
    make_price(MODEL)
    played = begin("Be brief.", cache_mode="implicit", tools=["add_todo"])
    played.talk(rounds=1)
    for _ in range(2):
        played.talk(more=TALK * 8)
    assert played.newest().cached_tokens
    lose_signatures(played)
    if not is_only:
        change_what_it_said(played)
    played.withhold()
    played.talk()
    saving = row(found_in(played), SavingCause.SIGNATURE if is_only else SavingCause.HISTORY)
    assert saving.tokens == played.newest().lost_tokens
    assert saving.source.startswith("turn:") and saving.source_number == 2
    assert not list(played.wrong_savings())


def test_the_source_that_changed_is_named(implicit: PlayedSession) -> None:
    implicit.change_panel()
    implicit.talk()
    saving = row(found_in(implicit), SavingCause.CONTEXT_FIRST)
    assert (saving.source, saving.other_sources) == ("panel:todos", 0)


def test_a_pause_is_told_with_its_length(implicit: PlayedSession) -> None:
    implicit.wait(42)
    implicit.withhold()
    implicit.talk()
    saving = row(found_in(implicit), SavingCause.IMPLICIT_LIFE)
    assert timedelta(minutes=42) <= timedelta(seconds=saving.idle_seconds) < timedelta(minutes=44)


def test_an_explicit_cache_that_ran_out(begin: Begin) -> None:
    make_price(MODEL)
    played = begin(LONG, cache_mode="explicit")
    for _ in range(3):
        played.talk()
    assert played.newest().cache_name
    played.idle()
    played.withhold()
    played.talk()
    saving = row(found_in(played), SavingCause.EXPLICIT_LIFE)
    assert saving.tokens == played.newest().lost_tokens
    assert not list(played.wrong_savings())


def test_a_cache_that_is_given_up(begin: Begin) -> None:
    make_price(MODEL)
    played = begin(LONG, cache_mode="explicit")
    for _ in range(3):
        played.talk()
    played.change(settings={"cache_mode": "implicit"})
    played.withhold()
    played.talk()
    assert row(found_in(played), SavingCause.LET_GO).tokens == played.newest().lost_tokens
    assert not list(played.wrong_savings())


def test_a_named_cache_that_holds_less_than_was_reused(implicit: PlayedSession) -> None:
    implicit.change(settings={"cache_mode": "explicit"})
    for _ in range(2):
        implicit.talk()
    assert implicit.newest().cache_name
    assert row(found_in(implicit), SavingCause.NAMED_LESS).tokens == implicit.newest().lost_tokens
    assert not list(implicit.wrong_savings())


@pytest.mark.usefixtures("rolls_early")
def test_history_that_rolls_over(begin: Begin) -> None:
    make_price(MODEL)
    played = begin(LONG, cache_mode="implicit")
    for _ in range(2):
        played.talk()
    played.roll_over()
    played.talk()
    assert row(found_in(played), SavingCause.ROLLED_OVER).usd
    assert not list(played.wrong_savings())


@pytest.mark.parametrize(("uses", "is_waste"), [(1, True), (9, False)])
def test_a_cache_is_wasted_that_cost_more_than_it_can_have_saved(
    begin: Begin, uses: int, is_waste: bool
) -> None:
    make_price(MODEL, storage="1")
    played = begin(LONG, cache_mode="explicit")
    for _ in range(uses + 1):
        played.talk()
    assert not found_in(played).causes, "it may still pay"
    played.idle()
    savings = found_in(played)
    paid = Decimal(0)
    for booking in played.session.bookings.exclude(cache_name=""):
        paid += booking.usd or 0
    saved = sum(
        (one.cached_tokens or 0) * Decimal("0.45") / 1_000_000
        for one in played.session.exchanges.exclude(cache_name="")
    )
    assert (paid > saved) == is_waste == bool(savings.causes)
    if is_waste:
        saving = row(savings, SavingCause.HARDLY_USED)
        assert (saving.requests, saving.caches, saving.paid) == (uses, 1, paid)
        assert saving.usd == paid - saving.saved and abs(saving.saved - saved) < Decimal("0.000001")
    assert not list(played.wrong_savings())


def test_what_is_not_known_makes_a_lower_bound(implicit: PlayedSession) -> None:
    implicit.edit_text()
    implicit.talk()
    assert found_in(implicit).is_whole
    newest = implicit.newest()
    implicit.session.exchanges.filter(pk=newest.pk).update(lost_usd=None)
    assert not found_in(implicit).is_whole
    implicit.session.exchanges.filter(pk=newest.pk).update(lost_tokens=None)
    assert (found_in(implicit).causes, found_in(implicit).unknown) == ((), 1)


def test_without_a_loss_there_is_no_cause(implicit: PlayedSession) -> None:
    savings = found_in(implicit)
    assert (savings.causes, savings.answered, savings.is_whole) == ((), 4, True)


def test_what_changes_in_every_request_is_told_though_nothing_was_ever_cached(begin: Begin) -> None:
    """Against the emulator itself: unchanged, the same session is served most of what was missed."""
    make_price(MODEL)
    changing, steady = (begin(LONG, cache_mode="implicit") for _ in range(2))
    for _ in range(4):
        changing.edit_text()
        for played in (changing, steady):
            played.talk(more=TALK)
    found, served = found_in(changing), steady.session.exchanges.aggregate(Sum("cached_tokens"))
    (missed,) = found.missed
    assert (found.causes, missed.cause, missed.requests) == ((), SavingCause.SYSTEM_TEXT, 3)
    assert missed.tokens == pytest.approx(served["cached_tokens__sum"], rel=0.05)
    assert not list(changing.wrong_savings()) and not found_in(steady).missed
    each = [missed_of(exchange).tokens or 0 for exchange in changing.session.exchanges.all()]
    assert sum(each) == missed.tokens and f"{each[-1]:,}" in break_lines.missed(missed_of(changing.newest()))


@pytest.mark.parametrize("operation", [PlayedSession.edit_text, PlayedSession.change_tools])
def test_what_stands_beside_a_named_cache_was_not_missed(
    begin: Begin, operation: Callable[[PlayedSession], None]
) -> None:
    """Against the emulator: unchanged, the same session is served the cache that it names and no more."""
    make_price(MODEL)
    changed, steady = (begin(LONG, cache_mode="explicit") for _ in range(2))
    for played in (changed, steady):
        for _ in range(3):
            played.talk(more=TALK)
    operation(changed)
    for played in (changed, steady):
        played.talk()
    found = found_in(changed)
    (lost,) = found.causes
    assert lost.tokens == steady.newest().cached_tokens and not changed.newest().cached_tokens
    assert (found.missed, missed_of(changed.newest()).tokens) == ((), 0)
    assert not list(changed.wrong_savings())


BROKEN_RULES: dict[str, tuple[str, Callable[..., object]]] = {
    "one cause for all": ("cause_of", lambda verdict, is_signature: SavingCause.ORDER),
    "each loss twice": ("_lossy", lambda *given: [*_lossy(*given), *_lossy(*given)]),
    "no cache that did not pay": ("cache_uses", lambda *_: []),
}


@pytest.mark.parametrize("name", BROKEN_RULES)
def test_a_broken_rule_contradicts_the_audit(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    make_price(MODEL)
    played = begin(LONG, cache_mode="explicit")
    for _ in range(2):
        played.talk()
    played.idle()
    played.withhold()
    played.talk()
    assert {one.cause for one in found_in(played).causes} >= {
        SavingCause.EXPLICIT_LIFE,
        SavingCause.HARDLY_USED,
    }
    assert not list(played.wrong_savings())
    rule, broken = BROKEN_RULES[name]
    monkeypatch.setattr(f"sessions_app.inspector.savings.{rule}", broken)
    assert len(list(played.wrong_savings())) == 1
