"""Whatever address there is, another person reads nothing and changes nothing behind it.

The addresses come from the URL resolver. A new one fails `test_every_address_is_the_owners` until
`private_rows` has a row for it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from pytest_django import Settings

from sessions_app.chat import history_views
from sessions_app.errors import RunError
from sessions_app.panels import KINDS
from tests.accounts.private_rows import HIDDEN, WORD, PrivateRows
from tests.factories import answered, make_session

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
REACHED = {200, 204, 302, 409}
"""409 comes from a view that has found the row: there is nothing to do with it now."""

PEOPLE = ("ordinary", "staff", "anonymous")

LEFT_OUT = {
    "sign-in-link": "who has the link is the person: test_sign_in",
    "shared": "who has the link may read: tests/sharing",
    "shared-file": "who has the link may read: tests/sharing",
    "sign-out": "it would end the visit of whoever tries the others",
}
PUBLIC = {"manifest": "the same for everybody"}
"""Routes whose answers browsers may keep, with the reason."""

if settings.PIPEWEB_ACCOUNTS == "team":
    LEFT_OUT |= {
        "account_confirm_email": "who has the link is the person",
        "account_reset_password_from_key": "who has the link is the person: tests/team",
        "openid_connect_login": "it leads to the provider: tests/team",
        "openid_connect_callback": "the same",
    }
"""Routes that are not tried, with the reason. The admin shows people to staff by design: tests/admin."""


@dataclass(frozen=True, slots=True)
class Address:
    """A route with arguments that name rows of the person."""

    route: str
    arguments: dict[str, Any]

    @property
    def path(self) -> str:
        return reverse(self.route, kwargs=self.arguments)


def routes(
    patterns: Sequence[URLPattern | URLResolver], keys: frozenset[str] = frozenset()
) -> Iterator[tuple[str, frozenset[str]]]:
    """The name of each route with the names of its arguments."""
    for one in patterns:
        inner = keys.union(one.pattern.converters)
        if isinstance(one, URLPattern):
            yield one.name or "", inner
        elif one.app_name != "admin":
            yield from routes(one.url_patterns, inner)


ROUTES = list(routes(get_resolver().url_patterns))
PANELS = [{"key": kind.key} for kind in KINDS]
ACTIONS = [{"key": kind.key, "name": action.action_name()} for kind in KINDS for action in kind.actions]


def addresses(rows: PrivateRows) -> list[Address]:
    """Those that name a row of alice; each panel, and each action of one, is an address of its own."""
    found: list[Address] = []
    for route, keys in ROUTES:
        if keys and route not in LEFT_OUT:
            known = rows.arguments(route)
            variants = ACTIONS if {"key", "name"} <= keys else PANELS if "key" in keys else [{}]
            found += [Address(route, {key: (known | more)[key] for key in keys}) for more in variants]
    return found


@pytest.fixture
def rows(alice: User, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PrivateRows:
    """What alice has. No model answers: a draft is refused, a repaired history is not retried."""
    settings.PIPEWEB_WORKSPACES = tmp_path

    async def refuse(*_: object) -> None:
        raise RunError("Not now.")

    monkeypatch.setattr(history_views, "draft_summary", refuse)
    monkeypatch.setattr(history_views, "_runner", lambda _: SimpleNamespace(gateway=None, retry=refuse))
    return PrivateRows(alice)


@pytest.fixture
def visitor(request: pytest.FixtureRequest, bob: User) -> Client:
    """A browser of somebody who is not alice."""
    client = Client(raise_request_exception=False)
    if request.param == "staff":
        bob.is_staff = True
        bob.save()
        bob.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    if request.param != "anonymous":
        client.force_login(bob)
    return client


each_visitor = pytest.mark.parametrize("visitor", PEOPLE, indirect=True)


def test_every_route_has_a_name_of_its_own() -> None:
    names = [name for name, _ in ROUTES]
    assert all(names) and len(names) == len(set(names)) and set(LEFT_OUT) <= set(names)


def test_every_address_is_the_owners(client: Client, rows: PrivateRows) -> None:
    """What others are refused below is there: by GET or by POST alice reaches it."""
    unreached = []
    for address in addresses(rows):
        reached = (outcome(client, method, address.path, rows) in REACHED for method in ("get", "post"))
        if not any(reached):
            unreached.append(address)
    assert unreached == []


def outcome(client: Client, method: str, path: str, rows: PrivateRows) -> int:
    """The status; what the request changed is undone."""
    with transaction.atomic():
        answer = getattr(client, method)(path, rows.form() if method == "post" else {})
        answer.getvalue()
        transaction.set_rollback(True)
    return int(answer.status_code)


def test_no_browser_keeps_a_page_of_somebody(client: Client, rows: PrivateRows) -> None:
    """Or its view says how long: a picture that never changes."""
    own = [one.path for one in addresses(rows)]
    others = [reverse(route) for route, keys in ROUTES if not keys and route not in LEFT_OUT | PUBLIC]
    unsaid = [path for path in own + others if not said(client.get(path))]
    assert unsaid == []


def said(answer: Any) -> bool:
    answer.getvalue()
    rules = answer.headers.get("Cache-Control", "")
    return "no-store" in rules or {"private", "immutable"} <= set(rules.split(", "))


@each_visitor
def test_nobody_else_reaches_an_address(visitor: Client, rows: PrivateRows) -> None:
    with unchanged(rows):
        # One panel of each route is enough: whose the session is does not depend on the panel.
        for address in {one.route: one for one in addresses(rows)}.values():
            for method in METHODS:
                answer = send(visitor, method, address.path, {} if method == "get" else rows.form())
                assert is_refusal(answer), (method, address)


def test_an_own_session_leads_to_nothing_of_another_person(
    stranger: Client, rows: PrivateRows, bob: User
) -> None:
    with unchanged(rows):
        own = make_session(bob)
        answered(own, "Mine", "Yours")
        for address in addresses(rows):
            if address.arguments.get("public") == rows.session.public:
                below = Address(address.route, {**address.arguments, "public": own.public})
                send(stranger, "get", below.path, {})
                send(stranger, "post", below.path, rows.form())
        for query in ("leaf", "before"):
            send(stranger, "get", own.get_absolute_url(), {query: str(rows.task.public)})


@each_visitor
def test_pages_without_a_row_tell_nothing_of_another_person(visitor: Client, rows: PrivateRows) -> None:
    with unchanged(rows):
        for path in (reverse(route) for route, keys in ROUTES if not keys and route not in LEFT_OUT):
            for query in ({}, {"q": WORD}, {"archive": ""}):
                send(visitor, "get", path, query)
            for method in METHODS:
                send(visitor, method, path, rows.form())


def send(visitor: Client, method: str, path: str, data: dict[str, Any]) -> Any:
    """The answer, which neither fails nor tells what only alice knows, in its body or in a header."""
    answer = getattr(visitor, method)(path, data)
    body = async_to_sync(collected)(answer) if getattr(answer, "is_async", False) else answer.getvalue()
    found = HIDDEN.encode() in body or HIDDEN in str(answer.headers)
    assert answer.status_code < 500 and not found, (method, path, answer.status_code)
    return answer


async def collected(answer: Any) -> bytes:
    return b"".join([piece async for piece in answer])


@contextmanager
def unchanged(rows: PrivateRows) -> Iterator[None]:
    """All that stood there before stands there afterwards, as it was."""
    before = rows.snapshot()
    yield
    after = rows.snapshot()
    assert [key for key, content in before.items() if after.get(key) != content] == []


def is_refusal(answer: Any) -> bool:
    if answer.status_code == 302:
        return str(answer["Location"]).startswith(f"{reverse('sign-in')}?")
    return answer.status_code in (403, 404, 405)
