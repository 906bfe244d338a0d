"""Workers: a document, a page, and what ends one."""

from collections.abc import Iterator

import pytest

from sessions_app.documents import jobs
from sessions_app.documents.jobs import WorkerPlaces, read_document, read_page
from sessions_app.error_codes import DocumentProblem
from sessions_app.errors import DocumentRefused
from tests.documents.hostile_server import serving
from tests.documents.samples import document

pytestmark = pytest.mark.slow


@pytest.fixture
def address() -> Iterator[str]:
    with serving() as found:
        yield found


def test_a_document_is_read_in_a_worker() -> None:
    assert read_document(document("Title", "Some text"), person=1).text == "**Title**\n\nSome text"


def test_a_page_is_read_in_workers(address: str) -> None:
    page = read_page(f"{address}/redirect?/article", person=1, allows_loopback=True)
    assert page.title == "About bees" and page.url == f"{address}/article" and "**insects**" in page.text


def test_the_figures_of_a_refusal_arrive(address: str) -> None:
    with pytest.raises(DocumentRefused) as caught:
        read_page(f"{address}/missing", person=1, allows_loopback=True)
    assert caught.value.reason == DocumentProblem.BAD_STATUS and caught.value.figures == {"status": 404}


def test_a_server_that_drips_is_left(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SECONDS", 2.0)
    with pytest.raises(DocumentRefused) as caught:
        read_page(f"{address}/drip", person=1, allows_loopback=True)
    assert caught.value.reason == DocumentProblem.TOO_SLOW


def test_what_ends_the_worker_is_a_refusal() -> None:
    with pytest.raises(DocumentRefused) as caught:
        read_document(document(*["</w:t>" * 3]), person=1)
    assert caught.value.reason == DocumentProblem.TOO_COMPLEX


def test_a_document_that_takes_too_much_memory_hurts_its_worker_only() -> None:
    with pytest.raises(DocumentRefused) as caught:
        read_document(document(*["x"] * 400_000), person=1)
    assert caught.value.reason in (DocumentProblem.TOO_COMPLEX, DocumentProblem.TOO_SLOW)


def test_a_person_has_one_place_and_all_have_two() -> None:
    places = WorkerPlaces()
    with places.of(1):
        with pytest.raises(DocumentRefused), places.of(1):
            pass
        with places.of(2), pytest.raises(DocumentRefused), places.of(3):
            pass
    with places.of(3):
        pass
