"""Sentences of the chat: models, sources, folders, files and links."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import get_args

from sessions_app.error_codes import BodyRefusal, DocumentProblem, ShareProblem
from sessions_app.media import WORD_TYPE
from sessions_app.prompt.citations import SourceKind
from sessions_app.prompt.model_uses import PriceClass
from sessions_app.prompt.pricing import Rates
from sessions_app.wording import citations, documents, folders, models, sharing, uploads, usage

FILE_TYPES = (
    "image/png",
    "audio/mp3",
    "video/mp4",
    "application/pdf",
    "text/plain",
    "application/zip",
    WORD_TYPE,
)


def chat_sentences() -> Iterator[str]:
    """What the functions of these modules make of their values."""
    yield from _words_about_usage()
    yield from _words_about_sources()
    yield from _words_about_models()
    yield from _sentences_of_folders()
    yield from _sentences_of_uploads()


def _words_about_usage() -> Iterator[str]:
    yield from (usage.tokens(1_000, 50, thoughts) for thoughts in (0, 20))
    yield from (usage.cached(part, 1_000) for part in (0, 5, 500, 1_000))
    yield usage.cost("$0.01")


def _words_about_sources() -> Iterator[str]:
    yield from map(citations.unnamed, get_args(SourceKind))
    yield from citations.details(is_quoted=True, licence="MIT", is_read=False)


def _words_about_models() -> Iterator[str]:
    for price in PriceClass:
        yield from (models.use(price, thinking) for thinking in models.THINKING)
    yield models.price(Rates(Decimal(3), Decimal("0.30"), Decimal(15)))
    for case in ("ends", "ended"):
        yield from (models.future(case, date(2026, 12, 1), served_by) for served_by in ("", "Gemini 4"))
    yield models.future("routed", date(2026, 12, 1), "Gemini 4")
    yield from (models.chosen(case, "Gemini 4") for case in models.CHOSEN)


def _sentences_of_folders() -> Iterator[str]:
    yield from (folders.moved("A chat", count, name) for count in (1, 2) for name in (None, "Work"))


def _sentences_of_uploads() -> Iterator[str]:
    yield from (sharing.problem(reason, {"size": 2_000, "limit": 1_000}) for reason in ShareProblem)
    yield from sharing.CALL_STATES.values()
    figures = {"host": "a.example", "seconds": 10, "limit": 1_000, "status": 404, "mime": "image/png"}
    yield from (documents.problem(reason, figures) for reason in DocumentProblem)
    yield from (documents.hint("page"), documents.hint("document"))
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    yield documents.document_with_origin("a.docx", "Text")
    yield from (documents.page_with_origin("http://a.example/", each, noon, "Text") for each in ("", "A"))
    yield from (uploads.body_refusal(reason, 1_000_000) for reason in BodyRefusal)
    for mime in FILE_TYPES:
        yield from uploads.too_large("a", 2_000_000, 1_000_000, mime)
    yield from uploads.too_many("a", 10)
