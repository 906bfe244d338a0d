"""What is stored as a code is read as words on every page of the admin, and is the code in a file."""

import csv
import io
import re
from collections.abc import Callable
from datetime import date
from html import unescape
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.log_codes import LoggedAction
from sessions_app.models import (
    AuditEntry,
    Booking,
    CacheEntry,
    Exchange,
    Memory,
    PanelState,
    Reading,
    Run,
    Session,
    Turn,
)
from sessions_app.models.audit_entry import record
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.caching import CacheAction
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.turns import TurnKind
from sessions_app.wording import cache_plans, costs, outcomes, turns
from tests.admin.pages import detail_of, list_of
from tests.factories import MODEL, make_history, make_session

Make = Callable[[Session], Any]


def _booking(session: Session) -> Booking:
    day = date(2026, 11, 21)
    return Booking.objects.create(
        owner=session.owner, session=session, day=day, model="m", cause="cache_made"
    )


def _entry(session: Session) -> CacheEntry:
    return CacheEntry.objects.create(fingerprint="f" * 64, model=MODEL, route="r", state="doomed")


def _exchange(session: Session) -> Exchange:
    row = make_history(session, 1)[0]
    Exchange.objects.filter(pk=row.pk).update(outcome=Outcome.MAX_TOKENS, cache_action=CacheAction.EXTEND)
    return row


def _run(session: Session) -> Run:
    run = make_history(session, 1)[0].run
    Run.objects.filter(pk=run.pk).update(outcome=Outcome.NO_ROOM)
    return run


def _turn(session: Session) -> Turn:
    make_history(session, 1)
    return Turn.objects.get(session=session, kind=TurnKind.USER_TASK)


def _logged(session: Session) -> AuditEntry:
    entry = CacheEntry(pk=7, fingerprint="f" * 64)
    return record(LoggedAction.ADMIN_ACTION, session.owner, entry)


def _state(session: Session) -> PanelState:
    return PanelState.objects.create(session=session, key="todos", sha256="f" * 64)


def _reading(session: Session) -> Reading:
    return Reading.objects.create(session=session, key="git_log", text="x")


ROWS: dict[str, tuple[Make, str, str]] = {
    "booking": (_booking, "cache_made", costs.title_of(SpendingCause.CACHE_MADE)),
    "cacheentry": (_entry, "doomed", cache_plans.STATES["doomed"]),
    "exchange": (_exchange, "max_tokens", outcomes.SENTENCES[Outcome.MAX_TOKENS]),
    "run": (_run, "no_room", outcomes.SENTENCES[Outcome.NO_ROOM]),
    "turn": (_turn, "user_task", turns.KINDS[TurnKind.USER_TASK]),
    "auditentry": (_logged, "cacheentry", "cache entry"),
    "panelstate": (_state, "todos", "Todos"),
    "reading": (_reading, "git_log", "Git log"),
}
"""Model → how a row is made, what it has stored, and what is read."""


def said_in(page: str) -> set[str]:
    """The texts of a page, without what belongs to an element's attributes."""
    return {unescape(text).strip() for text in re.findall(r">([^<>]+)<", page)}


@pytest.mark.parametrize("name", ROWS)
def test_lists_and_rows_say_it_in_words(root: Client, alice: User, name: str) -> None:
    make, code, words = ROWS[name]
    row = make(make_session(alice))
    for page in (list_of(name), detail_of(name, row.pk)):
        texts = said_in(root.get(page).content.decode())
        assert words in texts and not [text for text in texts if re.search(rf"\b{code}\b", text)]


@pytest.mark.parametrize("name", ROWS)
def test_a_file_has_the_code(root: Client, alice: User, name: str) -> None:
    make, code, words = ROWS[name]
    make(make_session(alice))
    response: Any = root.get(list_of(name) + "csv/")
    cells = {cell for row in csv.reader(io.StringIO(response.getvalue().decode())) for cell in row}
    assert code in cells and words not in cells


def test_the_cache_of_a_request_is_said_in_words(root: Client, alice: User) -> None:
    row = _exchange(make_session(alice))
    texts = said_in(root.get(detail_of("exchange", row.pk)).content.decode())
    assert cache_plans.action(CacheAction.EXTEND) in texts and "extend" not in texts


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: str(model.__name__))
def test_every_filter_offers_words(root: Client, model: Any) -> None:
    """A choice is what a person reads; the code stands in its address."""
    if model._meta.app_label != "sessions_app":
        return
    shown = root.get(list_of(model._meta.model_name)).context["cl"]
    for filters in shown.filter_specs:
        choices = [str(choice["display"]) for choice in filters.choices(shown)]
        assert not [one for one in choices if "_" in one or (one.isupper() and len(one) > 3)]


def test_an_importance_is_offered_as_it_is_listed(root: Client, alice: User) -> None:
    Memory.objects.remember(alice.pk, "x", importance=Memory.Importance.HIGH)
    page = root.get(list_of("memory"), {"importance": "high"})
    assert page.context["cl"].result_count == 1
    assert {"Low", "Medium", "High", "Critical"} <= said_in(page.content.decode())


def test_an_outcome_of_another_version_is_read_without_its_marks(root: Client, alice: User) -> None:
    run = _run(make_session(alice))
    Run.objects.filter(pk=run.pk).update(outcome="new_word")
    assert "new word" in said_in(root.get(list_of("run")).content.decode())
