"""Word documents and web pages become texts of the context, with where they came from."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app.context.workspaces import workspace_of
from sessions_app.error_codes import DocumentProblem
from sessions_app.models import PersonalLimits, Session
from sessions_app.wording import documents
from tests.documents.hostile_server import serving
from tests.documents.samples import document
from tests.factories import make_session

pytestmark = pytest.mark.slow


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.fixture
def address(settings: Any) -> Iterator[str]:
    settings.PIPEWEB_LOOPBACK_PAGES = True
    with serving() as found:
        yield found


def kept(session: Session) -> str:
    return workspace_of(session.owner_id).read_text(session.references.get().path)


def test_a_word_document_becomes_a_text_that_names_it(client: Client, session: Session) -> None:
    file = SimpleUploadedFile("Plan 2027.docx", document("Title", "Some text"))
    answer = client.post(reverse("attach", args=[session.public]), {"file": file})
    html = answer.content.decode()
    assert answer.status_code == 200 and "data-reference" in html and "Plan 2027.docx.md" in html
    assert kept(session) == "Text of the Word document “Plan 2027.docx”\n\n**Title**\n\nSome text\n"


def test_an_archive_that_is_no_document_says_so(client: Client, session: Session) -> None:
    file = SimpleUploadedFile("a.docx", b"PK\x03\x04 nonsense")
    answer = client.post(reverse("attach", args=[session.public]), {"file": file})
    assert answer.status_code == 409
    assert answer.json()["message"] == documents.problem_of_file(
        "a.docx", DocumentProblem.BROKEN_DOCUMENT, {}
    )
    assert not session.references.exists()


def test_a_page_becomes_a_text_with_its_address_and_time(
    client: Client, session: Session, address: str
) -> None:
    url = f"{address}/redirect?/article"
    answer = client.post(reverse("web-page", args=[session.public]), {"url": url})
    assert {"closes-dialog", "session-changed"} <= set(answer["HX-Trigger"].replace('"', " ").split())
    text = kept(session)
    assert text.startswith(f"Text of the web page {address}/article\nTitle: About bees\nFetched ")
    assert " UTC\n\n" in text and "**insects**" in text


def test_a_private_page_is_refused_in_the_form(client: Client, session: Session) -> None:
    answer = client.post(reverse("web-page", args=[session.public]), {"url": "http://127.0.0.1:1/"})
    assert "Only public pages are fetched." in answer.content.decode()
    assert not session.references.exists()


def test_a_limit_of_storage_holds_for_pages(client: Client, session: Session, address: str) -> None:
    PersonalLimits.objects.create(storage_mb=0)
    answer = client.post(reverse("web-page", args=[session.public]), {"url": f"{address}/plain"})
    assert "Stored for you" in answer.content.decode() and not session.references.exists()


def test_nobody_fetches_into_anothers_session(stranger: Client, session: Session) -> None:
    answer = stranger.post(reverse("web-page", args=[session.public]), {"url": "http://a.example/"})
    assert answer.status_code == 404
