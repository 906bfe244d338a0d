"""Every code has its sentence, every sentence its code, and a sentence names only figures that exist."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from enum import StrEnum
from string import Formatter
from typing import Any, get_args

import pytest

from sessions_app.capture.har_reading import Ignored
from sessions_app.capture.placements import LaneRole, Relation
from sessions_app.error_codes import (
    BodyRefusal,
    CaptureFault,
    DocumentProblem,
    HarProblem,
    ImportProblem,
    RefusalCode,
    RegroupProblem,
    SharedFailure,
    ShareProblem,
)
from sessions_app.errors import BudgetSpent, FilesNotUploaded, GatewayError, NoAnswer, PipewebError
from sessions_app.import_codes import ExpectedValue, ImportFormat, ImportNote
from sessions_app.key_codes import KeyOrigin, KeyProblem
from sessions_app.log_codes import LoggedAction, RefusedReading
from sessions_app.mcp_codes import Decision, ListingLoss, SchemaLoss, ServerProblem
from sessions_app.models import Notification
from sessions_app.models.session_settings import GROUP_TITLES
from sessions_app.prompt.billing import BilledAs, ItemChange
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.chunks import TokenKind
from sessions_app.prompt.comparisons import ComparisonProblem, StateSubject
from sessions_app.prompt.history import HistoryRule
from sessions_app.prompt.model_notices import NoticeCode
from sessions_app.prompt.model_uses import PriceClass
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.pricing import Budget, BudgetScope, TermKind
from sessions_app.prompt.remarks import REMOVALS, Remark, RemarkCode
from sessions_app.prompt.saving_causes import SavingCause
from sessions_app.prompt.stage_records import FIGURES, StageFigures, StageName, StageRecord, StageStatus
from sessions_app.prompt.templates import ChangeRate, Rendered, RenderFailure
from sessions_app.prompt.turns import TurnKind
from sessions_app.retention_codes import RetentionRule
from sessions_app.runs.history_edits import NOTHING_TO_REPAIR
from sessions_app.runs.processes import PROCESS_DIED
from sessions_app.runs.run_end import UNKNOWN
from sessions_app.values import ValueProblem
from sessions_app.wording import (
    api_key,
    audit_log,
    capture,
    comparisons,
    costs,
    documents,
    endings,
    har,
    imports,
    mcp,
    model_notices,
    models,
    outcomes,
    refusals,
    remarks,
    retention,
    savings,
    sharing,
    stages,
    token_kinds,
    turns,
    uploads,
    values,
)
from sessions_app.wording.sentences import fill

BUTTONS = re.compile(r"\b(Retry|Regenerate)\b")
"""What asks again is called by what the run did (`templates/chat/ending.html`)."""

TABLES: dict[str, tuple[type[StrEnum], Mapping[Any, str | Any]]] = {
    "titles": (StageName, stages.TITLES),
    "figures": (StageName, FIGURES),
    "meanings": (StageStatus, stages.MEANINGS),
    "remarks": (RemarkCode, remarks.SENTENCES),
    "rates": (ChangeRate, remarks.RATES),
    "failures of rendering": (RenderFailure, remarks.RENDER_FAILURES),
    "model notices": (NoticeCode, model_notices.SENTENCES),
    "labels of model notices": (NoticeCode, model_notices.LABELS),
    "classes of prices": (PriceClass, models.PRICE_CLASSES),
    "refusals": (RefusalCode, refusals.SENTENCES),
    "breaches": (HistoryRule, refusals.BREACHES),
    "imports": (ImportProblem, imports.SENTENCES),
    "import hints": (ImportProblem, imports.HINTS),
    "import formats": (ImportFormat, imports.FORMATS),
    "import notes": (ImportNote, imports.NOTES),
    "expected values": (ExpectedValue, imports.EXPECTED),
    "values": (ValueProblem, values.SENTENCES),
    "bodies": (BodyRefusal, uploads.BODIES),
    "problems of sharing": (ShareProblem, sharing.PROBLEMS),
    "failures in shared copies": (SharedFailure, sharing.FAILURES),
    "regrouping of captured sessions": (RegroupProblem, capture.REGROUP_PROBLEMS),
    "problems of HAR files": (HarProblem, har.PROBLEMS),
    "what is left out of HAR files": (Ignored, har.IGNORED),
    "faults of capture": (CaptureFault, capture.FAULTS),
    "relations of captured requests": (Relation, capture.RELATIONS),
    "roles of lanes": (LaneRole, capture.ROLES),
    "problems of documents": (DocumentProblem, documents.PROBLEMS),
    "causes": (SpendingCause, costs.CAUSES),
    "causes of losses": (SavingCause, savings.TITLES),
    "advice about losses": (SavingCause, savings.ADVICE),
    "token kinds": (TermKind, costs.TOKEN_KINDS),
    "changes of items": (ItemChange, costs.CHANGES),
    "ways of billing": (BilledAs, costs.BILLED),
    "outcomes": (Outcome, outcomes.SENTENCES),
    "outcome hints": (Outcome, outcomes.HINTS),
    "kinds of tokens": (TokenKind, token_kinds.LABELS),
    "comparisons": (ComparisonProblem, comparisons.PROBLEMS),
    "origins of a key": (KeyOrigin, api_key.ORIGINS),
    "origins of a key, in short": (KeyOrigin, api_key.IN_SHORT),
    "problems of a key": (KeyProblem, api_key.PROBLEMS),
    "rules of retention": (RetentionRule, retention.REASONS),
    "problems of MCP servers": (ServerProblem, mcp.PROBLEMS),
    "losses of tools' schemas": (SchemaLoss, mcp.SCHEMA_LOSSES),
    "losses of lists of tools": (ListingLoss, mcp.LISTING_LOSSES),
    "what becomes of asks": (Decision, mcp.DECISIONS),
    "what the audit log tells of": (LoggedAction, audit_log.TITLES),
    "refusals to show content": (RefusedReading, audit_log.REFUSED),
    "what differs": (StateSubject, comparisons.SUBJECTS),
    "kinds of turns": (TurnKind, turns.KINDS),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_code_has_its_wording_and_every_wording_a_code(name: str) -> None:
    codes, table = TABLES[name]
    assert set(table) == set(codes)


def test_every_kind_of_notification_has_a_label() -> None:
    assert remarks.NOTIFICATION_LABELS.keys() == set(Notification.Kind.values)


def test_no_code_is_both_a_remark_and_a_refusal() -> None:
    assert not set(RemarkCode) & set(RefusalCode)
    assert set(RemarkCode) >= REMOVALS


def cases(figures: type[StageFigures]) -> Iterable[str]:
    return get_args(figures.model_fields["case"].annotation) or ("",)


def test_every_case_of_every_stage_has_its_sentences() -> None:
    wanted = {(name, case) for name in StageName for case in cases(FIGURES[name])}
    assert stages.CAME_IN.keys() == stages.CAME_OUT.keys() == wanted


@pytest.mark.parametrize("key", stages.CAME_IN, ids=" ".join)
def test_a_stage_names_only_figures_it_has(key: tuple[str, str]) -> None:
    name, case = key
    known = stages.shown_figures(FIGURES[name](case=case)).keys()
    for text in (stages.CAME_IN[key], stages.CAME_OUT[key]):
        assert {field for _, field, _, _ in Formatter().parse(text) if field} <= known
    record = StageRecord(name=name, status="ok", figures=FIGURES[name](case=case))
    assert not any("{" in text for text in stages.input_and_output(record))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_bad_outcome_has_a_hint(outcome: Outcome) -> None:
    sentence, hint = outcomes.sentence(outcome), outcomes.hint(outcome)
    assert sentence.endswith(".") and (hint or outcome in (Outcome.COMPLETE, Outcome.CALLS))


def test_figures_are_shown_as_what_they_are() -> None:
    assert fill(
        "{usd_left} of {names}, {size:,}", {"usd_left": "1.5", "names": ["a", "b"], "size": 1_234}
    ) == ("$1.50 of a, b, 1,234")


@pytest.mark.parametrize("figures", [{}, {"size": "odd"}, {"size": None}])
def test_a_row_with_other_figures_breaks_no_page(figures: dict[str, Any]) -> None:
    assert fill("{size:,} bytes", figures, otherwise="check") == "check"


def test_a_code_of_another_version_is_shown_as_it_is() -> None:
    assert remarks.sentence(Remark(code="new_thing", size=1)) == "new thing"


def test_a_remark_says_where() -> None:
    at_part = Remark(code=RemarkCode.SIGNATURE_LOST, turn="3f2a9c81-1", part=0)
    assert remarks.sentence_at(at_part, 3).startswith("Turn 3, part 1: ")
    assert remarks.sentence_at(at_part).startswith("A turn, part 1: ")
    assert remarks.label(at_part) == "dummy"


def test_a_remark_on_a_text_names_its_line_where_it_is_known() -> None:
    known = Remark(code=RemarkCode.TEXT_FELL_BACK, title="purpose", line=2, reason="a brace is open")
    unknown = known.model_copy(update={"line": 0})
    assert remarks.sentence(known) == "purpose was sent as it was written: line 2: a brace is open"
    assert remarks.sentence(unknown) == "purpose was sent as it was written: a brace is open"


@pytest.mark.parametrize("failure", list(RenderFailure))
def test_a_text_that_was_not_rendered_says_why(failure: RenderFailure) -> None:
    rendered = Rendered("{{ a }}", "fallback", failure=failure, limit=0.2)
    known = Remark(code=RemarkCode.TEXT_FELL_BACK, title="purpose", **rendered.failure_figures())
    reason = remarks.failure_reason(rendered)
    assert reason and remarks.sentence(known) == f"purpose was sent as it was written: {reason}"
    assert reason in remarks.sentence(known.model_copy(update={"code": RemarkCode.DESCRIPTION_FELL_BACK}))


def test_the_words_of_the_template_engine_stay_as_they_are() -> None:
    assert remarks.failure_reason(Rendered("{{", "fallback", "a brace is open", 1)) == "a brace is open"


def test_a_panel_says_what_was_read() -> None:
    read = Remark(
        code=RemarkCode.PANEL_READ,
        panel="files",
        is_sent=True,
        tokens=1_200,
        changed=True,
        page=1,
        pages=1,
        files=[{"path": "a.txt", "page": 2, "pages": 3}],
        problem="b.txt is gone",
    )
    assert remarks.sentence(read) == "files: 1,200 tokens, changed, a.txt page 2 of 3. b.txt is gone"


def test_a_broken_history_names_its_messages() -> None:
    violation = {
        "rule": "sequence",
        "what": "message",
        "named": "“Now?”",
        "before_what": "results",
        "before_named": "“f”",
    }
    sentence, hint = refusals.refusal_texts(RefusalCode.HISTORY_INVALID, {"violations": [violation]})
    assert sentence == "The request was not sent: the history breaks a rule."
    assert hint.startswith("The message “Now?” comes right after the tool result of “f”, before any answer.")


@pytest.mark.parametrize("rule", list(HistoryRule))
def test_every_broken_rule_has_a_sentence(rule: HistoryRule) -> None:
    figures = {"what": "call", "named": "“f”", "before_what": "call", "before_named": "“g”", "missing": "a"}
    said = refusals.breach({"rule": rule.value, **figures})
    assert said.endswith(".") and "{" not in said and said != rule.value


def test_a_limit_names_its_group_of_settings() -> None:
    assert f"“{GROUP_TITLES['limits']}”" in refusals.LIMIT_HINT


def test_a_spent_budget_says_when_it_begins_anew() -> None:
    budget = Budget(BudgetScope.TODAY, Decimal(1), Decimal(1), 80, date(2026, 11, 23))
    figures = budget.stored()
    sentence, hint = refusals.error_texts(BudgetSpent(RefusalCode.BUDGET_SPENT, **figures))
    assert sentence == "Your budget for today is spent: $1.00 of $1.00."
    assert hint.startswith("The request was not sent. It begins anew on 23 November")


def test_errors_are_worded_by_code_or_by_their_own_message() -> None:
    empty = (outcomes.SENTENCES[Outcome.EMPTY], outcomes.HINTS[Outcome.EMPTY])
    assert refusals.error_texts(NoAnswer("empty")) == empty
    assert refusals.error_texts(GatewayError("Overloaded.", hint="Wait.")) == ("Overloaded.", "Wait.")
    assert refusals.stored_error_texts({"reason": "empty", "figures": {}}) == empty
    assert refusals.stored_error_texts({"message": "Overloaded.", "hint": ""}) == ("Overloaded.", "")
    assert refusals.stored_error_texts({"reason": "max_rounds", "figures": {"spent": 2, "limit": 2}})[
        0
    ].endswith("2 rounds of tools of at most 2.")


@pytest.mark.parametrize("code", refusals.ROOM)
def test_where_a_limit_allows_nothing_no_room_is_promised(code: str) -> None:
    figures = {"used": 0, "limit": 0, "seconds": 60}
    assert refusals.refusal_texts(code, figures)[1] == refusals.NO_ROOM["hint"]
    assert refusals.refusal_texts(code, figures | {"limit": 1})[1] != refusals.NO_ROOM["hint"]


def test_only_what_frees_itself_says_when() -> None:
    named = {code for code, text in refusals.ROOM.items() if "{" in text}
    assert named == set(refusals.TIMED)


@pytest.mark.parametrize(
    "error",
    [UNKNOWN, PROCESS_DIED, NOTHING_TO_REPAIR(), FilesNotUploaded([])],
    ids=lambda error: error.message,
)
def test_a_hint_names_no_button_that_may_be_called_otherwise(error: PipewebError) -> None:
    assert error.hint and not BUTTONS.search(error.hint)


def test_no_wording_of_an_ending_names_the_button_to_ask_again() -> None:
    assert not any(BUTTONS.search(text) for text in (*endings.ARRIVALS.values(), *refusals.HINTS.values()))


def test_texts_are_counted() -> None:
    assert remarks.about_texts("fell_back", ["purpose"]) == "1 text is sent as written: purpose."
    assert remarks.about_texts("breaking", ["a", "b"]) == "2 texts break the cache: a, b."


def test_a_file_a_little_too_large_does_not_look_as_large_as_it_may_be() -> None:
    sentence, hint = uploads.too_large("scan.pdf", 50_000_001, 50_000_000, "application/pdf")
    assert sentence == "“scan.pdf” has 50.1 MB; a file may have 50 MB."
    assert hint == "Attach fewer pages of it."
