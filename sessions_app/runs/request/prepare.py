"""Prepares a request: runs the stages and records the exchange before the call.

Runs in the database thread, so that a long history does not block the event loop.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from time import perf_counter
from typing import Any

from django.db import transaction

from sessions_app.context.model_lookup import model_warnings
from sessions_app.errors import BudgetHeld, PromptError, RequestRefused
from sessions_app.gemini.model_capabilities import Capabilities
from sessions_app.models import Exchange, Run, Session, SessionSettings, Turn
from sessions_app.prompt.caching import CachePlan
from sessions_app.prompt.history import verify_structure
from sessions_app.prompt.layers import Layers, StaticSources
from sessions_app.prompt.payload import GenerationConfig, Payload, assemble
from sessions_app.prompt.pricing import Budget
from sessions_app.prompt.remarks import Remark
from sessions_app.prompt.stage_records import CheckFigures, StageName, StageStatus
from sessions_app.runs.budgets import most_of_payload
from sessions_app.runs.request import caching, stages
from sessions_app.runs.request.caching import ChosenCaching, PlannedCache
from sessions_app.runs.request.context import (
    FirstRequest,
    RequestContext,
    StageLog,
    StageResult,
)
from sessions_app.runs.request.endpoint import Endpoint
from sessions_app.runs.request.stages import History
from sessions_app.runs.request.turn_errors import with_turn_numbers
from sessions_app.tools import Toolbox


@dataclass(frozen=True, slots=True)
class Assembled:
    """The layers of a request, with their static texts, history and notes."""

    layers: Layers
    static: StaticSources
    history: History
    notes: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class BuiltRequest:
    """The results of the stages. `near` are the budgets that are nearly spent."""

    assembled: Assembled
    caching: ChosenCaching
    planned: PlannedCache
    payload: Payload
    notes: tuple[Remark, ...]
    near: tuple[Budget, ...]


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A recorded request, ready to be sent."""

    exchange: Exchange
    context: RequestContext
    built: BuiltRequest

    @property
    def payload(self) -> Payload:
        return self.built.payload

    @property
    def layers(self) -> Layers:
        return self.built.assembled.layers

    @property
    def plan(self) -> CachePlan:
        return self.built.planned.plan

    @property
    def fingerprint(self) -> str:
        return self.built.planned.fingerprint

    @property
    def cache_entry(self) -> int | None:
        """Key of our row about the cache that the request names."""
        return self.built.planned.entry if self.plan.is_hit else None

    @property
    def first(self) -> FirstRequest:
        """What the next requests of the run keep of this one."""
        chosen, chunks = self.built.caching, self.built.assembled.history.chunks
        return self.context.first or FirstRequest(
            chosen.strategy, chosen.named, int(chunks[-1].key) if chunks else 0
        )

    @property
    def near_budgets(self) -> tuple[Budget, ...]:
        return self.built.near


def prepare(
    run: Run,
    step: int,
    endpoint: Endpoint,
    toolbox: Toolbox,
    *,
    resend_of: Exchange | None = None,
    first: FirstRequest | None = None,
    begun: Session | None = None,
) -> PreparedRequest:
    """Runs the stages and records the exchange. `first` is that of the run's first request, for which `begun`
    is the session that its start has read.

    Raises RequestRefused (PromptError, BudgetSpent), with the stage records stored on the run, BudgetHeld
    while answers beside it may use up a budget, FilesNotUploaded when files have to be uploaded first, and
    RunEnded.
    """
    began = perf_counter()
    context = RequestContext.read(run, step, endpoint, toolbox, resend_of, first=first, begun=begun)
    log = StageLog()
    with _refusals_stored(run, log):
        built = build(context, log)
        exchange = _record(context, built, log, began)
    return PreparedRequest(exchange, context, built)


def prepare_hop(before: PreparedRequest, token: str, *, resend_of: Exchange | None = None) -> PreparedRequest:
    """Records the request that goes on with an answer: the one before with the token, and no other byte.

    Of the stages only the budget is asked anew. Raises BudgetSpent, BudgetHeld, RunEnded.
    """
    began, sent, log = perf_counter(), before.context, StageLog()
    now = RequestContext.read(sent.run, sent.step, sent.endpoint, sent.toolbox, resend_of)
    with _refusals_stored(sent.run, log):
        near = log.run(StageName.CHECK_BUDGET, stages.check_budget, now)
        built = replace(before.built, payload=before.payload.continued(token), near=near)
        context = replace(sent, resend_of=resend_of)
        exchange = _record(context, built, log, began, continues=before.exchange)
    return PreparedRequest(exchange, context, built)


@contextmanager
def _refusals_stored(run: Run, log: StageLog) -> Iterator[None]:
    """What was refused keeps its stage records; what waits for money is prepared again."""
    try:
        yield
    except BudgetHeld:
        raise
    except RequestRefused:
        Run.objects.filter(pk=run.pk).update(stages=log.stored())
        raise


def build(context: RequestContext, log: StageLog) -> BuiltRequest:
    """Runs the stages in order. Raises RequestRefused, FilesNotUploaded."""
    log.run(StageName.BUILD_TRIGGER, stages.build_trigger, context)
    near = log.run(StageName.CHECK_BUDGET, stages.check_budget, context)
    log.run(StageName.MARK_NOTIFICATIONS, stages.mark_notifications, context)
    full = log.run(StageName.SNAPSHOT_HISTORY, stages.snapshot, context)
    chosen = caching.choose(context)
    remaining = log.run(StageName.DETACH_HISTORY, stages.detach, context, full, chosen)
    assembled = assemble_layers(context, log, remaining)
    planned = log.run(StageName.PLAN_CACHE, caching.plan, context, assembled.layers, chosen)
    payload, findings = log.run(StageName.CHECK, check, context, assembled.layers, planned.plan)
    return BuiltRequest(assembled, chosen, planned, payload, (*assembled.notes, *findings), near)


def assemble_layers(context: RequestContext, log: StageLog, remaining: History) -> Assembled:
    """The stages from the history to the four layers, which `cachecheck` repeats."""
    valid = log.run(StageName.VALIDATE_HISTORY, stages.validate, context, remaining)
    log.run(StageName.OFFER_TOOLS, stages.offer_tools, context)
    arguments = log.run(StageName.PREPARE_ARGUMENTS, stages.prepare_arguments, context, remaining)
    panels = log.run(StageName.REFRESH_PANELS, stages.refresh_panels, context, arguments)
    texts = log.run(StageName.RENDER_TEMPLATES, stages.render_texts, context, arguments)
    ordered = log.run(StageName.ORDER_PANELS, stages.order_panels, panels, texts.instructions)
    layers = log.run(
        StageName.BUILD_LAYERS, stages.build_layers, context, valid.history, texts.static, ordered
    )
    return Assembled(layers, texts.static, valid.history, valid.notes)


def check(
    context: RequestContext, layers: Layers, plan: CachePlan
) -> StageResult[tuple[Payload, tuple[Remark, ...]]]:
    """The payload and the findings about its signatures. Raises PromptError."""
    model = context.session.model
    config = generation_config(context.options, context.capabilities, context.sent_schema)
    payload = assemble(layers, config, model=model, cached_content=plan.name)
    try:
        findings = verify_structure(layers.turns, required=context.capabilities.signatures_required)
    except PromptError as error:
        raise with_turn_numbers(context.run.session_id, error) from error
    remarks = (*model_warnings(model, context.served), *findings)
    figures = CheckFigures(items=len(payload.items), size=len(payload.body))
    status = StageStatus.NOTICED if remarks else StageStatus.OK
    return StageResult((payload, findings), figures, status, remarks)


def generation_config(
    options: SessionSettings, capabilities: Capabilities, answer_schema: Mapping[str, Any] | None = None
) -> GenerationConfig:
    """The session's settings, as far as the model supports them."""
    return GenerationConfig(
        temperature=options.temperature if capabilities.sampling else None,
        top_p=options.top_p if capabilities.sampling else None,
        thinking_level=options.thinking_level if options.thinking_level in capabilities.levels else "",
        thinking_budget=options.thinking_budget if capabilities.thinking == "budget" else None,
        include_thoughts=options.include_thoughts and capabilities.thinking != "none",
        answer_schema=answer_schema,
    )


@transaction.atomic
def _record(
    context: RequestContext,
    built: BuiltRequest,
    log: StageLog,
    began: float,
    *,
    continues: Exchange | None = None,
) -> Exchange:
    reserved = _reserved(context, built.payload)
    payload, endpoint, plan = built.payload, context.endpoint, built.planned.plan
    strategy = built.caching.strategy.record
    previous = continues.pk if continues else _previous_of(context)
    return Exchange.objects.begin(
        context.run,
        context.step,
        payload,
        route=context.route,
        provider=endpoint.label,
        base_url=endpoint.base_url,
        dialect=endpoint.dialect,
        sent_sha256=endpoint.sent_sha256(payload),
        fingerprint=built.planned.fingerprint,
        cache_action=plan.action,
        cache_name=plan.name,
        plan_figures=plan.stored(),
        cache_policy=strategy.policy,
        cache_mode=strategy.mode,
        strategy_figures=strategy.stored(),
        previous_id=previous,
        stages=log.stored(),
        notes=[note.stored() for note in built.notes],
        build_ms=(perf_counter() - began) * 1000,
        resend_of=context.resend_of,
        continues=continues,
        reserved_usd=reserved,
    )


def _reserved(context: RequestContext, payload: Payload) -> Decimal | None:
    """What the exchange reserves; None without a budget that counts it. Raises BudgetSpent, BudgetHeld."""
    spender = context.spender
    if not spender.pays_for(context.route):
        return None
    spender.lock()
    spender.check(context.route)
    return most_of_payload(payload, context.served)


def _previous_of(context: RequestContext) -> int | None:
    """Key of the exchange that this request is compared with; None in a new session. Usually no query.

    In a tool round: the step before. Else: the nearest exchange on the branch, or the session's last one when
    the branch has none. Exchanges without a counted prompt are skipped.
    """
    if context.resend_of is not None:
        return context.resend_of.previous_id
    if context.step > 1:
        return _newest_counted(context, run=context.run.pk)
    trigger = context.run.trigger
    parent = trigger.parent if trigger else None
    known = context.recent.counted(pk=parent.exchange_id) if parent and parent.exchange_id else None
    if known is None and trigger is not None and context.recent.exchanges:
        known = Turn.objects.exchange_above(trigger.pk)
    return known or _newest_counted(context)


def _newest_counted(context: RequestContext, **fields: int) -> int | None:
    """One query where the recent exchanges do not tell."""
    known = context.recent.counted(**fields)
    if known is not None or context.recent.is_complete:
        return known
    counted = Exchange.objects.filter(session=context.session, prompt_tokens__gt=0, **fields)
    return counted.order_by("number").values_list("pk", flat=True).last()
