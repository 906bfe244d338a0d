"""Values that hold every code of every module of the wording, and their sentences."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import cycle
from typing import Any

from sessions_app.capture.placements import Relation
from sessions_app.error_codes import CaptureFault, RefusalCode, RegroupProblem
from sessions_app.errors import NotRegrouped, ProviderDown
from sessions_app.models import Notification, Run
from sessions_app.prompt.cache_life import CacheEventKind, CacheFate, FateKind
from sessions_app.prompt.caching import CacheAction, CachePlan, EntryReason, PlanReason, VerdictCode
from sessions_app.prompt.history import HistoryRule
from sessions_app.prompt.model_notices import ModelNotice, NoticeCode
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine, BreakPlace, CacheLoss
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.saving_causes import SavingCause, ToolChange
from sessions_app.prompt.savings import Saving, Savings
from sessions_app.prompt.stage_records import FIGURES, StageName, StageRecord, StageStatus
from sessions_app.prompt.static_change import RolledHistory, StaticChange
from sessions_app.prompt.strategy import StrategyReason, StrategyRecord
from sessions_app.prompt.templates import ChangeRate, RenderFailure
from sessions_app.prompt.turns import TurnKind
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.wording import (
    activity,
    api_key,
    assistants,
    break_lines,
    cache_events,
    cache_plans,
    capture,
    comparisons,
    endings,
    imports,
    model_notices,
    refusals,
    remarks,
    resends,
    retention,
    savings,
    sentences,
    sessions,
    sources,
    stages,
    strategies,
    terms,
    texts,
    token_kinds,
    turns,
    values,
    verdicts,
)
from tests.wording.audit_log_examples import audit_log_sentences, mcp_sentences
from tests.wording.chat_examples import chat_sentences, ending_sentences
from tests.wording.figures import candidate_sentences, figures_of, har_sentences, signature_sentences
from tests.wording.money_examples import BUDGETS, money_sentences

PLACE = BreakPlace(
    item=2,
    layer="dynamic",
    source="panel:todos",
    number=0,
    part=None,
    line=3,
    char=1_012,
    layer_byte=1_040,
    body_byte=7_036,
)
BREAK = BreakLine(BreakKind.CHANGED, "dynamic", "panel:todos", 0, PLACE, before="", was="a", now="b")
SOURCES = (
    *("template:static", "template:dynamic", "tools", "clock", "turn:4f", "chunk:4f", "purpose"),
    *("system", "opaque", "generated_context:1", "cached_content:1", "unseen_cache"),
)
BREAKS = (
    *(replace(BREAK, kind=kind, source=source) for kind in BreakKind for source in ("panel:todos", "tools")),
    *(replace(BREAK, source=source, at=replace(PLACE, source=source, line=None)) for source in SOURCES),
    *(replace(BREAK, source=source, number=3) for source in ("turn:4f", "chunk:4f")),
    *(replace(BREAK, at=replace(PLACE, source="turn:4f", number=3, part=2, line=line)) for line in (None, 1)),
    replace(BREAK, at=replace(PLACE, body_byte=None)),
    replace(BREAK, at=None),
)
LOSSES = (
    CacheLoss(),
    CacheLoss(0, Decimal(0)),
    CacheLoss(1_500, Decimal("0.00067500")),
    CacheLoss(1_500),
)

SAME = Comparison(7, 9_000, 10_000, was_prompt=9_100, idle_seconds=600)
SEEN = (
    None,
    SAME,
    replace(SAME, same_config=False),
    replace(SAME, same_model=False),
    replace(SAME, same_model=False, same_endpoint=False),
    replace(SAME, same_served=False),
    replace(SAME, broken=BREAK),
    replace(SAME, broken=BREAK, static=StaticChange.ROLLED_OVER, rolled=RolledHistory(1, 12, 1, 1)),
    replace(SAME, broken=BREAK, static=StaticChange.ROLLED_OVER, rolled=RolledHistory(13, 13, 2, 3)),
)
FATES = (
    *(CacheFate(kind, "c/1", EntryReason.ADMIN, PlanReason.WAIVED, 600.0) for kind in FateKind),
    *(CacheFate(FateKind.EXPIRED, "c/1", seconds=seconds) for seconds in (-5.0, 5.0, 60.0)),
)
UNCOUNTED = (
    VerdictReason.CACHE_GONE,
    VerdictReason.NO_USAGE,
    VerdictReason.NOT_ANSWERED,
    VerdictReason.UNREADABLE,
    VerdictReason.CUT_OFF,
)
VERDICTS = (
    *(Verdict(reason) for reason in UNCOUNTED),
    *(
        Verdict(reason, replace(SAME, broken=BREAK), cached=0, prompt=10_000, minimum=4_096)
        for reason in VerdictReason
        if reason not in UNCOUNTED
    ),
    *(Verdict(VerdictReason.PART_OF_PREFIX, seen, cached=5, prompt=10_000) for seen in SEEN),
    *(Verdict(VerdictReason.DROPPED, SAME, cached=0, prompt=10_000, fate=fate) for fate in FATES),
    Verdict(VerdictReason.WHOLE_PREFIX, SAME, cached=9_100, prompt=10_000),
    Verdict(VerdictReason.OTHER_MODEL, replace(SAME, same_model=False, same_endpoint=False), 0, 10_000),
    Verdict(VerdictReason.UNEXPLAINED, replace(SAME, same_model=False), 0, 10_000, 4_096, again=SAME),
    Verdict(VerdictReason.UNEXPLAINED, replace(SAME, broken=BREAK), 0, 10_000, 4_096, again=SAME),
)

PLANS = tuple(
    CachePlan(action, "", reason, tokens=900, minimum=1_024, seconds_left=90, refusal="limit=0")
    for action, reason in zip((*CacheAction, CacheAction.NONE, *CacheAction), PlanReason, strict=False)
)
PLANS += (CachePlan(CacheAction.HIT, "c/1", PlanReason.LIVE, is_kept=True),)
ENTRIES = tuple((reason, "The provider's words.") for reason in EntryReason)

STRATEGY = StrategyRecord(
    "explicit",
    "adaptive",
    StrategyReason.OURS_CHEAPER,
    refusal="limit=0",
    pause_minutes=16.4,
    share=0.6,
    own_usd=90_000.0,
    ours_usd=41_000.0,
    tail=9_500.0,
)
STRATEGIES = (
    *(replace(STRATEGY, reason=reason) for reason in StrategyReason),
    replace(STRATEGY, ours_usd=None),
    replace(STRATEGY, own_usd=None),
    replace(STRATEGY, tail=None),
    replace(STRATEGY, tail=None, is_first=True),
    replace(STRATEGY, mode="implicit", policy="seed"),
)

NAMED = {"named": "“f”", "before_what": "call", "before_named": "“g”", "missing": "a"}
VIOLATIONS = (
    *({"rule": rule, "what": what, **NAMED} for rule in HistoryRule for what in refusals.MESSAGES),
    {"rule": HistoryRule.IDS, "what": "results", "unasked": "b", **NAMED},
)
REFUSALS: tuple[tuple[RefusalCode, dict[str, Any]], ...] = (
    *((code, figures_of(refusals.SENTENCES[code], refusals.HINTS.get(code, ""))) for code in RefusalCode),
    (RefusalCode.BUDGET_SPENT, BUDGETS[-1].stored()),
    *(
        (code, {"used": 1, "limit": 1, "seconds": seconds})
        for code in refusals.TIMED
        for seconds in (None, 60)
    ),
    (RefusalCode.HISTORY_INVALID, {"violations": VIOLATIONS[:1]}),
    (RefusalCode.HISTORY_INVALID, {"violations": VIOLATIONS}),
)

NOTICES = tuple(
    ModelNotice(code, "m", date(2026, 12, 1), 9, served_by, successor, *rates)
    for code in NoticeCode
    for served_by, successor in (("n", "n"), ("n", "o"), ("n", ""), ("", "n"), ("", ""))
    for rates in ((None, None), (Rates(Decimal(1), Decimal(1), Decimal(4)),) * 2)
)

READ = {
    "panel": "files",
    "tokens": 1_200,
    "page": 1,
    "pages": 2,
    "files": ({"path": "a", "page": 1, "pages": 2},),
}
REMARKS = (
    *(Remark(code=code, **figures_of(remarks.SENTENCES[code])) for code in RemarkCode),
    *(Remark(code=code) for code in RefusalCode),
    *(Remark(code=RemarkCode.SIGNATURE_REFUSED, exchange=exchange) for exchange in (0, 7)),
    *(
        Remark(code=RemarkCode.TEXT_FELL_BACK, turn="3f2a9c81-1", part=part, title="", line=1, reason="")
        for part in (None, 0)
    ),
    *(
        Remark(code=RemarkCode.TEXT_FELL_BACK, title="", failure=failure, limit=0.2)
        for failure in RenderFailure
    ),
    *(
        Remark(code=RemarkCode.TEXT_BREAKS_CACHE, title="role", line=1, path="now", rate=rate)
        for rate in ChangeRate
    ),
    Remark(code=RemarkCode.CALL_UNANSWERED, names=["f"]),
    *(
        Remark(code=RemarkCode.MODEL_UNKNOWN, model="m", has_caches=has_caches)
        for has_caches in (True, False)
    ),
    *(
        Remark(code=RemarkCode.PANEL_READ, is_sent=is_sent, changed=changed, **READ)
        for is_sent, changed in ((True, True), (True, False), (False, False))
    ),
    *(Remark(code=RemarkCode.NOTIFICATION, number=1, kind=kind, text="") for kind in Notification.Kind),
    *(Remark(code=RemarkCode.BUDGET_NEAR, **budget.stored()) for budget in BUDGETS),
)

CONTINUED = FIGURES[StageName.CONTINUE](case="cut", most=3)
RECORDS = (
    *(
        StageRecord(name=name, status=status, figures=FIGURES[name](case=case))
        for (name, case), status in zip(stages.CAME_IN, cycle(StageStatus), strict=False)
    ),
    StageRecord(name=StageName.CONTINUE, status=StageStatus.OK, figures=CONTINUED),
)


SAVINGS = (
    *(Saving(cause, 2, 1_500, Decimal("0.5"), largest=3) for cause in SavingCause),
    *(Saving(SavingCause.ORDER, 1, 9, Decimal(0), 1, 3, "turn:4f", 2, others) for others in range(3)),
    *(Saving(SavingCause.IMPLICIT_LIFE, 1, 9, Decimal(0), idle_seconds=pause) for pause in (90, 900, 90_000)),
    *(Saving(SavingCause.HARDLY_USED, uses, 0, Decimal(1), caches=uses) for uses in (0, 1, 2)),
)
TOOL_CHANGES = (None, ToolChange(), ToolChange(("a",), ("b",), ("c",)), ToolChange(tuple("abcdef")))
SUMS_OF_SAVINGS = (
    Savings((), answered=0),
    Savings((), answered=3),
    Savings(SAVINGS, answered=9, unknown=1, unknown_caches=1),
    Savings((replace(SAVINGS[0], unpriced=1),), answered=9, unknown=2),
    Savings((), answered=9, missed=SAVINGS),
)


def all_sentences() -> Iterator[str]:
    """What the functions of the package make of all these values."""
    for verdict in VERDICTS:
        yield verdicts.sentence(verdict)
        yield verdicts.sentence(verdict, is_captured=True)
    for code in VerdictCode:
        yield from (verdicts.label(code), verdicts.badge(code))
    yield from _sentences_of_breaks()
    yield from _sentences_of_caches()
    yield from map(strategies.sentence, STRATEGIES)
    yield from money_sentences()
    yield sentences.earlier_version("What was said.")
    for action in sessions.DONE:
        yield from (sessions.done(action, "One", count) for count in (1, 2))
    yield from sessions.WINDOW_WARNINGS.values()
    yield from map(model_notices.sentence, NOTICES)
    yield from map(model_notices.label, NOTICES)
    yield assistants.deleted("Baker")
    yield from map(turns.kind, TurnKind)
    yield from texts.REMARKS.values()
    yield from map(terms.explanation, terms.EXPLANATIONS)
    yield from (*api_key.ORIGINS.values(), *api_key.PLACES.values(), *api_key.IN_SHORT.values())
    yield from (*api_key.PROBLEMS.values(), api_key.PROBLEM_HINT, *api_key.WHY_NO_KEY.values())
    yield from (*retention.REASONS.values(), retention.purged(datetime(2026, 11, 23, tzinfo=UTC)))
    yield from _names_of_the_inspector()
    yield from _sentences_of_input()
    yield from _sentences_of_runs()
    yield from chat_sentences()
    yield from _sentences_of_capture()
    yield from audit_log_sentences()
    yield from mcp_sentences()
    yield from _sentences_of_savings()
    yield from har_sentences()
    yield from (*signature_sentences(), *candidate_sentences())


def _sentences_of_caches() -> Iterator[str]:
    for plan in PLANS:
        yield from (cache_plans.action(plan.action), cache_plans.reason(plan))
    for reason, said in ENTRIES:
        yield cache_plans.entry_reason(reason, said)
    yield from map(cache_plans.state, cache_plans.STATES)
    for kind in CacheEventKind:
        yield from (cache_events.event(kind), cache_events.event(kind, EntryReason.CLIENT, 3))


def _sentences_of_breaks() -> Iterator[str]:
    for broken in BREAKS:
        yield from (break_lines.place(broken), break_lines.change(broken))
        if broken.at is not None:
            yield break_lines.place_in_layer(broken.at)
            yield from (break_lines.place_in_body(broken.at, is_translated=one) for one in (True, False))
    for loss in LOSSES:
        yield from (break_lines.loss(loss), break_lines.missed(loss))
    for source in (*SOURCES, "panel:todos", *(f"panel:{key}" for key in sources.PANELS)):
        yield from (sources.source_title(source, number) for number in (0, 3))
    yield from (sources.turns_title(1, 3, 3), sources.turns_title(0, 3, 3))
    yield from (sources.part_name(0), sources.part_name(0, 3), *map(sources.part_title, sources.KINDS))


def _names_of_the_inspector() -> Iterator[str]:
    for named in (comparisons.PROBLEMS, comparisons.SUBJECTS, token_kinds.LABELS):
        yield from named.values()
    yield from (text.format(named=2, sent=1) for text in comparisons.NAMED_OR_SENT.values())


def _sentences_of_input() -> Iterator[str]:
    for problem, text in imports.SENTENCES.items():
        yield from imports.import_texts(problem, figures_of(text))
    for expected in imports.EXPECTED:
        yield from imports.import_texts("unexpected", {"where": "[0]", "expected": expected})
    yield from map(imports.recognised, imports.FORMATS)
    for code, text in imports.NOTES.items():
        yield imports.note_text({"code": code, **figures_of(text)})
    for problem, text in values.SENTENCES.items():
        yield values.sentence(problem, figures_of(text))


def _sentences_of_runs() -> Iterator[str]:
    for record in RECORDS:
        yield from (stages.title(record.name), stages.meaning(record.status))
        yield from stages.input_and_output(record)
    for remark in REMARKS:
        yield from (remarks.sentence_at(remark), remarks.sentence_at(remark, 3), remarks.label(remark))
    yield from (remarks.sentence_over(REMARKS[0], range(count)) for count in (1, 3, 20))
    yield from (remarks.foreign(2, made_on, "e/b") for made_on in ("e/a", "e", "f/a", "imported"))
    yield from (remarks.notification_hint("context_threshold", ""), refusals.lasting_hint("max_usd"))
    for titles in (["role"], ["role", "purpose"]):
        yield from (remarks.about_texts(what, titles) for what in ("fell_back", "breaking"))
    for code, figures in REFUSALS:
        yield from refusals.refusal_texts(code, figures)
    yield from ending_sentences()
    for status in (Run.Status.FAILED, Run.Status.STOPPED, Run.Status.INTERRUPTED):
        yield endings.title(status)
        yield from endings.broken_off_texts("stopped", is_asked=False, has_arrived=False)
    yield from endings.ARRIVALS.values()
    yield from (
        endings.cost(0, 0),
        endings.cost(1, 1),
        endings.cost(1, 1, is_cut_off=True),
        endings.cost(1, 1, is_before=True),
        *endings.UNREAD.values(),
    )
    yield from (activity.activity(activity.ACTIVITIES["thought"], 1, 1), activity.activity("", 2, 0))
    yield from (activity.switch_brief("Git", on=on) for on in (True, False))
    yield from (endings.call_state("unknown"), endings.call_state("not_run"))
    yield from (endings.resumption([]), endings.resumption(["book_taxi"]))
    for kind in (*resends.REASONS, ProviderDown.__name__):
        yield from (resends.reason({"kind": kind}, 1), resends.note(kind))
    yield from (*map(resends.asking_again, ("Down.", "Down")), resends.resent_in(2))


def _sentences_of_capture() -> Iterator[str]:
    yield from (capture.fault(one, limit=limit) for one in CaptureFault for limit in (0, 1_000))
    yield from (capture.relation(one, is_guess=guess) for one in Relation for guess in (False, True))
    yield from capture.ROLES.values()
    yield from (capture.lane(one, 2, count) for one in capture.ROLES for count in (1, 3))
    yield from (capture.regroup_problem(NotRegrouped(one, count=400, limit=300)) for one in RegroupProblem)
    yield from (capture.program(one) for one in ("GeminiCLI/0.61 (linux)", ""))
    yield from (*map(capture.missed, (1, 2)), *map(capture.erased, (1, 2)), capture.too_many_addresses(20))


def _sentences_of_savings() -> Iterator[str]:
    for saving in SAVINGS:
        yield savings.title(saving.cause)
        yield from (savings.advice(saving, 9, tools) for tools in TOOL_CHANGES)
    for sums in SUMS_OF_SAVINGS:
        yield savings.nothing(sums)
        yield from savings.remarks(sums, is_emulated=True)
    yield from (savings.total("$1.00", tokens) for tokens in (0, 5))
    yield from (savings.others(causes, "$1.00") for causes in (1, 2))
    for known in (SAVINGS, (replace(SAVINGS[0], unpriced=1),)):
        yield from (savings.missed_total(known), savings.at_most(known[0]))
    yield from (savings.parts_of(*read) for read in ((0, 0), (1, 1), (2, 2), (2, 9)))
