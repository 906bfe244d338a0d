"""The page of a captured session: to be read only."""

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from sessions_app.models import CaptureAddress, Session
from tests.capture.answers import Asking, says
from tests.capture.conversations import body_of, user
from tests.factories import make_session

pytestmark = pytest.mark.django_db

SAID = "How do I scale the loaf to two kilograms?"

OF_A_WHOLE = {"rename-session", "share", "share-preview"}
"""What a person does with a session as a whole, whoever asked in it."""


@pytest.fixture
def session(alice: User) -> Session:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    return program.exchange(body_of([user(SAID)]), says("Double all of it.")).session


def session_urls(patterns: list[URLPattern | URLResolver], prefix: str = "") -> list[tuple[str, str]]:
    """Name and route of every page below a session."""
    found = []
    for one in patterns:
        route = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            found += session_urls(one.url_patterns, route)
        elif route.startswith("s/<uuid:public>/"):
            found.append((one.name or "", route))
    return found


def address_of(route: str, session: Session) -> str:
    values = {"uuid": str(uuid4()), "int": "1", "slug": "tree", "str": "tree", "path": "a"}
    filled = route.replace("<uuid:public>", str(session.public), 1)
    return "/" + re.sub(r"<(\w+):\w+>", lambda match: values[match[1]], filled)


def test_every_page_that_writes_refuses_it(client: Client, session: Session) -> None:
    pages = session_urls(get_resolver().url_patterns)
    before = [list(rows.values()) for rows in (session.turns, session.runs)]
    statuses = {name: client.post(address_of(route, session), {}).status_code for name, route in pages}
    written = {name for name, status in statuses.items() if status not in {403, 404, 405}}
    assert len(pages) > 30 and written == OF_A_WHOLE
    assert [list(rows.values()) for rows in (session.turns, session.runs)] == before


def test_it_has_no_form_that_writes_into_it(client: Client, session: Session) -> None:
    shown = client.get(session.get_absolute_url()).content.decode()
    assert SAID in shown and "Double all of it." in shown
    main = shown[shown.index("<main") : shown.index("</main>")]
    assert "<textarea" not in main and "contenteditable" not in main
    targets = set(re.findall(r'(?:action|hx-post|formaction)="([^"]+)"', main))
    assert targets <= {reverse("act"), reverse("rename-session", args=[session.public])}, targets


def test_nobody_else_sees_it(session: Session, bob: User) -> None:
    other = Client()
    other.force_login(bob)
    for name in ("session", "exchanges", "export-json", "regroup"):
        assert other.get(reverse(name, args=[session.public])).status_code == 404


def test_a_search_finds_what_was_said_in_it(client: Client, session: Session, alice: User) -> None:
    make_session(alice)
    found = client.get(reverse("sessions"), {"q": "loaf kilograms"}).content.decode()
    assert str(session.public) in found


def test_it_is_exported_and_imported_again(client: Client, session: Session) -> None:
    exported = client.get(reverse("export-json", args=[session.public]))
    body = b"".join(exported) if exported.streaming else exported.content
    assert exported.status_code == 200 and SAID.encode() in body
    written = client.get(reverse("export-markdown", args=[session.public]))
    text = b"".join(written) if written.streaming else written.content
    assert SAID.encode() in text and b"Double all of it." in text
