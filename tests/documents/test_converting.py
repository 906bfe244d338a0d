import pytest

from sessions_app.documents import converting
from sessions_app.documents.converting import check_archive, document_text, page_text
from sessions_app.error_codes import DocumentProblem
from sessions_app.errors import DocumentRefused
from tests.documents.hostile_server import ARTICLE
from tests.documents.samples import bomb, document

ENTITIES = '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b SYSTEM "file:///etc/passwd">]>'


def archive_problem(body: bytes) -> DocumentProblem:
    with pytest.raises(DocumentRefused) as caught:
        check_archive(body)
    return caught.value.reason


def test_a_document_becomes_markdown() -> None:
    assert document_text(document("Title", "Some text")).text == "**Title**\n\nSome text"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"PK\x03\x04 nonsense", DocumentProblem.BROKEN_DOCUMENT),
        (document("x", before=ENTITIES), DocumentProblem.BROKEN_DOCUMENT),
        (document("Hello")[:-30], DocumentProblem.BROKEN_DOCUMENT),
        (bomb(101_000_000), DocumentProblem.ARCHIVE_TOO_LARGE),
    ],
    ids=["no archive", "entities", "cut", "bomb"],
)
def test_hostile_documents(body: bytes, problem: DocumentProblem) -> None:
    assert archive_problem(body) == problem


def test_entries_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "ENTRY_LIMIT", 2)
    assert archive_problem(document("x")) == DocumentProblem.ARCHIVE_TOO_LARGE


def test_another_archive_is_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "_DOCUMENT", "word/other.xml")
    assert archive_problem(document("x")) == DocumentProblem.NO_DOCUMENT


def test_a_page_becomes_its_main_text() -> None:
    found = page_text(ARTICLE.encode(), "text/html", "utf-8", "http://a.example/")
    assert found.title == "About bees" and "Bees are **insects**" in found.text
    assert "alert" not in found.text and "<" not in found.text


@pytest.mark.parametrize("mime", ["text/plain", "text/markdown", "application/json"])
def test_text_stays_as_it_is(mime: str) -> None:
    assert page_text('{"a": "é"}'.encode("latin-1"), mime, "latin-1", "").text == '{"a": "é"}'
    assert page_text(b"ok", mime, "no-such-charset", "").text == "ok"


@pytest.mark.parametrize("charset", ["undefined", "idna", "hex", "utf\0", ""])
def test_a_charset_that_decodes_nothing_is_passed_over(charset: str) -> None:
    assert page_text("…ok".encode(), "text/plain", charset, "").text == "…ok"


@pytest.mark.parametrize(
    ("body", "mime", "problem"),
    [
        (b"\x89PNG", "image/png", DocumentProblem.WRONG_TYPE),
        (b"", "text/plain", DocumentProblem.NO_TEXT),
        (b"", "text/html", DocumentProblem.NO_TEXT),
        (b"x" * 4_900_001, "text/plain", DocumentProblem.TEXT_TOO_LARGE),
    ],
    ids=["type", "empty", "empty page", "large"],
)
def test_pages_without_a_text_of_use(body: bytes, mime: str, problem: DocumentProblem) -> None:
    with pytest.raises(DocumentRefused) as caught:
        page_text(body, mime, "", "")
    assert caught.value.reason == problem
