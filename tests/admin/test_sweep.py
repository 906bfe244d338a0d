"""Every page, filter and action of the admin, from what is registered: none shows what a person wrote."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import models, transaction
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import Settings

from sessions_app.models import Session
from tests.accounts.private_rows import HIDDEN, PrivateRows

SITES = list(admin.site._registry.items())
each_admin = pytest.mark.parametrize(("model", "listing"), SITES, ids=[model.__name__ for model, _ in SITES])

HOLDING = {"Session", "Turn", "Run", "Exchange", "RawChunk", "Memory", "SharedLink"}
"""Models with a page in the admin of which a row of the person says the word, or leads to bytes that do."""


@pytest.fixture
def rows(alice: User, settings: Settings, tmp_path: Path) -> PrivateRows:
    settings.PIPEWEB_WORKSPACES = tmp_path
    return PrivateRows(alice)


@pytest.fixture
def superuser(db: None) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def root(superuser: User) -> Client:
    client = Client()
    client.force_login(superuser)
    return client


def place(model: type[models.Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def request_of(person: User) -> Any:
    request: Any = RequestFactory().get("/")
    request.user = person
    return request


def queries(client: Client, model: type[models.Model], listing: Any) -> Iterator[dict[str, str]]:
    """Each choice of each filter, each column sorted by, and searches for the word and for the person."""
    answer = client.get(place(model, "changelist"))
    shown = answer.context["cl"]
    for filters in shown.filter_specs:
        for choice in filters.choices(shown):
            query = choice["query_string"].removeprefix("?")
            yield dict(pair.split("=", 1) for pair in query.split("&") if "=" in pair)
    for column in range(1, len(shown.list_display) + 1):
        yield {"o": str(column)}
    if listing.search_fields:
        yield from ({"q": words} for words in ("alice", "gooseberry"))


@each_admin
def test_no_list_shows_what_a_person_wrote(
    root: Client, rows: PrivateRows, model: type[models.Model], listing: Any
) -> None:
    for query in ({}, *queries(root, model, listing)):
        answer = root.get(place(model, "changelist"), query, follow=True)
        assert answer.status_code == 200, query
        assert HIDDEN not in answer.content.decode(), query


@each_admin
def test_no_row_shows_what_a_person_wrote(
    root: Client, rows: PrivateRows, superuser: User, model: type[models.Model], listing: Any
) -> None:
    shown = list(listing.get_queryset(request_of(superuser))[:20])
    for row in shown:
        for page in ("change", "history", "delete"):
            answer = root.get(place(model, page, row.pk))
            assert answer.status_code in (200, 403)
            assert HIDDEN not in answer.content.decode(), (page, row.pk)
        assert root.get(place(model, "change", row.pk)).status_code == 200
    assert shown or model.__name__ not in HOLDING


@each_admin
def test_no_action_shows_what_a_person_wrote(
    root: Client, rows: PrivateRows, superuser: User, model: type[models.Model], listing: Any
) -> None:
    request = request_of(superuser)
    keys = list(listing.get_queryset(request).values_list("pk", flat=True)[:20])
    for name in listing.get_actions(request) if keys else ():
        with transaction.atomic():
            data = {"action": name, "_selected_action": keys}
            answer = root.post(place(model, "changelist"), data, follow=True)
            transaction.set_rollback(True)
        assert answer.status_code == 200 and HIDDEN not in answer.content.decode(), name


def test_the_word_is_there_to_be_found(rows: PrivateRows, root: Client, client: Client) -> None:
    """The positive control: the person's own page shows it, and rows of the admin hold it."""
    page = client.get(rows.session.get_absolute_url()).content.decode()
    assert HIDDEN in page and Session.objects.filter(title__contains=HIDDEN).exists()
    held = {key[0] for key, content in rows.snapshot().items() if HIDDEN in str(content)}
    registered = {model.__name__ for model, _ in SITES}
    assert {"Session", "Turn", "Memory"} <= held & registered and registered >= HOLDING
