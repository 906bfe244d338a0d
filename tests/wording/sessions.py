"""Sessions whose rows hold every code that pages put into sentences."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import (
    CacheGone,
    NoAnswer,
    PromptError,
    ProviderDown,
    SignatureMissing,
    SignatureRefused,
)
from sessions_app.models import CacheEntry, CacheEvent, Run, Session
from sessions_app.models.run import describe
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.stage_records import FIGURES, StageName, StageRecord, StageStatus
from tests.factories import (
    MODEL,
    ROUTE,
    answered,
    finish,
    make_exchange,
    make_run,
    make_session,
    play_flight,
    text_chunk,
)
from tests.wording.examples import BREAKS, ENTRIES, PLANS, READ, STRATEGIES, VERDICTS
from tests.wording.money_examples import BUDGETS, SUMS


def fill_with_verdicts(session: Session) -> None:
    """An exchange for each verdict, each with another plan, strategy, break line, sum and cache entry."""
    for number, verdict in enumerate(VERDICTS):
        run = make_run(session, f"Question {number}")
        plan, record = PLANS[number % len(PLANS)], STRATEGIES[number % len(STRATEGIES)]
        reason, said = ENTRIES[number % len(ENTRIES)]
        money = SUMS[number % len(SUMS)].stored()
        exchange = make_exchange(
            run,
            fingerprint=f"{number:064x}",
            cache_action=plan.action,
            plan_figures=plan.stored(),
            cache_mode=record.mode,
            cache_policy=record.policy,
            strategy_figures=record.stored(),
            verdict=verdict.code,
            verdict_figures=verdict.stored(),
            break_line=BREAKS[number % len(BREAKS)].stored(),
            money=money | {"budgets": [budget.stored() for budget in BUDGETS if not budget.is_spent]},
        )
        entry = CacheEntry.objects.create(
            fingerprint=exchange.fingerprint, model=MODEL, route=ROUTE, reason=reason, said=said
        )
        for kind in (*CacheEventKind, CacheEventKind.NAMED, CacheEventKind.NAMED):
            CacheEvent.of(entry, kind, session=session, exchange=exchange, said=said).save()
        finish(run)


def fill_with_earlier_version(session: Session) -> None:
    texts = dict.fromkeys(("verdict", "cache_plan", "strategy", "budget"), "What was said then.")
    _add_exchange(session, verdict="hit", earlier_wording=texts)


def fill_with_near_budget(session: Session) -> None:
    session.settings, session.spent_usd = {"budget_usd": 10}, 9
    session.save()


def fill_with_stages(session: Session) -> None:
    """Every stage, status and remark."""
    remarks = tuple(Remark(code=code, turn="3f2a9c81-1", part=0) for code in RemarkCode)
    statuses = [status for status in StageStatus if status is not StageStatus.BLOCKED]
    records = [_record(name, statuses[at % len(statuses)]) for at, name in enumerate(StageName)]
    records.append(_record(StageName.RENDER_TEMPLATES, StageStatus.FALLBACK, *remarks))
    panel = Remark(code=RemarkCode.PANEL_READ, **READ)
    records.append(_record(StageName.REFRESH_PANELS, StageStatus.OK, panel))
    _add_exchange(session, records, notes=[one.stored() for one in remarks])


def fill_with_notice(session: Session) -> None:
    """A last request with two remarks, of which the drawer shows one."""
    rendered = Remark(code=RemarkCode.TEXT_RENDERED, title="role")
    failed = Remark(code=RemarkCode.TEXT_FELL_BACK, title="purpose", line=2, reason="a brace is open")
    _add_exchange(session, [_record(StageName.RENDER_TEMPLATES, StageStatus.FALLBACK, rendered, failed)])


def fill_with_refusals(session: Session) -> None:
    for code in RefusalCode:
        blocked = StageRecord(name="check", status=StageStatus.BLOCKED, remarks=(Remark(code=code),))
        run = make_run(session, code)
        run.end(Run.Status.FAILED, error=PromptError(code))
        Run.objects.filter(pk=run.pk).update(stages=[blocked.stored()])


def fill_with_endings(session: Session) -> None:
    for outcome in Outcome:
        run = make_run(session, f"Ends {outcome}")
        error = None if outcome.is_answer else NoAnswer(outcome)
        make_exchange(run, outcome=outcome)
        run.end(Run.Status.FAILED if error else Run.Status.COMPLETED, outcome=outcome, error=error)
    for status in (Run.Status.STOPPED, Run.Status.INTERRUPTED, Run.Status.FAILED):
        make_run(session, f"Ends {status}").end(status)


def fill_with_resends(session: Session) -> None:
    """A request that is sent again after each kind of failure."""
    run, failed = make_run(session, "Again"), None
    for error in (
        CacheGone("Gone."),
        SignatureRefused("No."),
        SignatureMissing("None."),
        ProviderDown("Busy."),
    ):
        failed = make_exchange(run, [], resend_of=failed, error=describe(error))
    make_exchange(run, resend_of=failed)
    finish(run)


def fill_with_tools(session: Session) -> None:
    play_flight(session)


def fill_with_sources(session: Session) -> None:
    """A quoted text, and a page that could not be retrieved."""
    quoted = {"citationSources": [{"endIndex": 4, "uri": "https://a.example", "license": "MIT"}]}
    page = {"retrievedUrl": "https://b.example", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}
    beside = {"citationMetadata": quoted, "urlContextMetadata": {"urlMetadata": [page]}}
    run = make_run(session, "On what?")
    make_exchange(run, [text_chunk("That.", finish="STOP", beside=beside)])
    finish(run)


def fill_with_long_text(session: Session) -> None:
    answered(session, "A list", "- a\n" * 6_000)


def _record(name: StageName, status: StageStatus, *remarks: Remark) -> StageRecord:
    return StageRecord(name=name, status=status, figures=FIGURES[name](), remarks=remarks, ms=1)


def _add_exchange(session: Session, records: Sequence[StageRecord] = (), **columns: Any) -> None:
    run = make_run(session, "Hello")
    make_exchange(run, stages=[one.stored() for one in records], **columns)
    finish(run)


def fill_with_losses(session: Session) -> None:
    """An exchange that lost something for each verdict."""
    for verdict in VERDICTS:
        exchange = make_exchange(
            make_run(session),
            verdict=verdict.code,
            verdict_figures=verdict.stored(),
            break_line=BREAKS[0].stored(),
            lost_tokens=5,
            lost_usd=Decimal(1),
        )
        finish(exchange.run)


class Example(NamedTuple):
    """A session with what fills it, and the tabs that are read of each of its exchanges."""

    fill: Callable[[Session], None]
    tabs: tuple[str, ...] = ()


EXAMPLES = (
    Example(fill_with_verdicts, ("cache",)),
    Example(fill_with_earlier_version, ("cache", "pipeline")),
    Example(fill_with_near_budget),
    Example(fill_with_stages, ("pipeline",)),
    Example(fill_with_notice, ("pipeline",)),
    Example(fill_with_refusals),
    Example(fill_with_endings, ("response",)),
    Example(fill_with_resends, ("signatures",)),
    Example(fill_with_tools),
    Example(fill_with_sources),
    Example(fill_with_long_text),
    Example(fill_with_losses),
)


def make_examples(owner: User) -> list[tuple[Session, Example]]:
    """A session for each example; a new subject of the wording adds its own to EXAMPLES."""
    found = [(make_session(owner), example) for example in EXAMPLES]
    for session, example in found:
        example.fill(session)
    return found
