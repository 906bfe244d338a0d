"""Sentences of the chat: models, sources, folders, files and links."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import get_args

from sessions_app.error_codes import BodyRefusal, DocumentProblem, SharedFailure, ShareProblem
from sessions_app.errors import NoAnswer
from sessions_app.media import WORD_TYPE
from sessions_app.prompt.answer_schema import MOST_PLACES, Fit, SchemaFault, SchemaProblem
from sessions_app.prompt.citations import SourceKind
from sessions_app.prompt.model_uses import PriceClass
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.provider_tools import Obstacle, ProviderTool
from sessions_app.prompt.stage_records import OfferFigures, StageName, StageRecord, StageStatus
from sessions_app.wording import (
    answer_schemas,
    citations,
    documents,
    endings,
    folders,
    models,
    outcomes,
    provider_tools,
    refusals,
    sharing,
    stages,
    uploads,
    usage,
)

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
    yield from _words_about_tools()
    yield from _words_about_models()
    yield from _sentences_of_folders()
    yield from _sentences_of_uploads()


def _words_about_usage() -> Iterator[str]:
    yield from (usage.tokens(1_000, 50, thoughts, tools) for thoughts in (0, 20) for tools in (0, 2_000))
    yield from (usage.cached(part, 1_000) for part in (0, 5, 500, 1_000))
    yield from (usage.prompt(10, cached) for cached in (5, 50))
    yield usage.as_counted(usage.tokens(1_000, 50, 0), is_cut_off=True)
    yield from (usage.answer(50, 20, tools) for tools in (0, 2_000))
    yield usage.cost("$0.01")


def _words_about_sources() -> Iterator[str]:
    yield from map(citations.unnamed, get_args(SourceKind))
    yield from citations.details(is_quoted=True, licence="MIT", is_read=False)
    yield from citations.details(is_quoted=False, licence="", is_read=True, status="success")
    for status in citations.STATUSES:
        yield from citations.details(is_quoted=False, licence="", is_read=False, status=status)


def _words_about_tools() -> Iterator[str]:
    yield from map(provider_tools.name, provider_tools.NAMES)
    yield from map(provider_tools.title, ProviderTool)
    yield from (provider_tools.left_out("google_search", why, "Gemini 4") for why in Obstacle)
    yield from map(provider_tools.use, provider_tools.USES)
    yield provider_tools.using("CODE_EXECUTION")
    yield from provider_tools.CODE_RESULTS.values()
    yield provider_tools.not_told(["google_search"])
    offered = OfferFigures(functions=2, tools=("google_search",), schemas=1)
    record = StageRecord(name=StageName.OFFER_TOOLS, status=StageStatus.OK, figures=offered)
    yield from stages.input_and_output(record)
    figures = {"line": 1, "column": 2, "keyword": "pattern", "name": "city", "limit": 20}
    faults = (SchemaFault(problem, figures=figures) for problem in SchemaProblem)
    yield from map(answer_schemas.schema_fault, faults)
    for case in get_args(Fit.model_fields["case"].annotation):
        yield from (
            answer_schemas.fit(Fit(case=case, path="$", rule="type", places=places))
            for places in (1, 2, MOST_PLACES)
        )


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
    yield from (*sharing.CALL_STATES.values(), *map(sharing.failure, SharedFailure))
    figures = {"host": "a.example", "seconds": 10, "limit": 1_000, "status": 404, "mime": "image/png"}
    yield from (documents.problem(reason, figures) for reason in DocumentProblem)
    yield documents.problem_of_file("a.zip", DocumentProblem.NO_DOCUMENT, {})
    yield from (documents.hint("page"), documents.hint("document"), documents.hint("archive"))
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    yield documents.document_with_origin("a.docx", "Text")
    yield from (documents.page_with_origin("http://a.example/", each, noon, "Text") for each in ("", "A"))
    yield from (uploads.body_refusal(reason, 1_000_000) for reason in BodyRefusal)
    for mime in FILE_TYPES:
        yield from uploads.too_large("a", 2_000_000, 1_000_000, mime)
    yield from uploads.too_many(10)
    yield from (uploads.FILES["folder"].format(name="photos"), uploads.HINTS["folder"])
    yield from (uploads.opened("plan.md", is_open=is_open) for is_open in (True, False))


def ending_sentences() -> Iterator[str]:
    """Of answers, in a chat and to a captured program."""
    for outcome in Outcome:
        yield from refusals.error_texts(NoAnswer(outcome))
        yield from refusals.error_texts(NoAnswer(outcome, finish_reason="NEW"))
        yield outcomes.hint(outcome, is_captured=True)
    yield from (outcomes.sentence_in(status, Outcome.UNFINISHED) for status in outcomes.BROKEN_OFF)
    for is_captured in (True, False):
        yield from outcomes.news_texts("NEW", is_captured=is_captured)
    yield from outcomes.news_texts("NEW", has_called=True)
    yield endings.beside_what_stands("Try again.", is_cut=True)
    for kind in refusals.PROGRAM_HINTS:
        yield from refusals.stored_error_texts({"kind": kind, "message": "No."}, is_captured=True)
