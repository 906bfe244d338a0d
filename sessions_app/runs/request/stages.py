"""The stages that make the layers of a request: trigger, budget, history, panels, texts."""

from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone

from sessions_app.context.arguments import arguments_of, message_of, rendering_of, rounded_time
from sessions_app.context.session_texts import (
    instructions_panel,
    read_texts,
    render_session_texts,
    rendering_status,
    static_sources,
)
from sessions_app.context.workspaces import workspace_of
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import HistoryInvalid
from sessions_app.models import HistoryChunk, Notification, Turn
from sessions_app.models.turn_statements import ANY_CHUNK
from sessions_app.panels.base import ReadPanel
from sessions_app.panels.refresh import refresh as read_and_keep
from sessions_app.prompt import layers, signatures
from sessions_app.prompt.arguments import Arguments
from sessions_app.prompt.detach import cuts
from sessions_app.prompt.history import violations
from sessions_app.prompt.layers import FrozenHistory as ChunkValue
from sessions_app.prompt.layers import Layers, StaticSources
from sessions_app.prompt.panels import Panel, sorted_panels
from sessions_app.prompt.pricing import Budget
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.repair import repair
from sessions_app.prompt.stage_records import (
    ArgumentFigures,
    BudgetFigures,
    HistoryFigures,
    LayerFigures,
    NotificationFigures,
    OfferFigures,
    OrderFigures,
    PanelFigures,
    StageStatus,
    TemplateFigures,
    TriggerFigures,
    ValidFigures,
)
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.runs.attachment_parts import resolve_files
from sessions_app.runs.request.caching import ChosenCaching
from sessions_app.runs.request.context import RequestContext, StageResult


def build_trigger(context: RequestContext) -> StageResult[None]:
    """Describes the trigger: the person's message, or the tool responses of the last round."""
    if context.step > 1 or context.run.is_resumed:
        rounds = context.step if context.run.is_resumed else context.step - 1
        return StageResult(None, TriggerFigures(case="tool_results", round=rounds))
    text = context.run.trigger.text if context.run.trigger else ""
    return StageResult(None, TriggerFigures(case="user_text", characters=len(text)))


def check_budget(context: RequestContext) -> StageResult[tuple[Budget, ...]]:
    """The budgets that are nearly spent. Raises BudgetSpent, BudgetHeld."""
    budgets = context.spender.check(context.route)
    near = tuple(budget for budget in budgets if budget.is_near)
    figures = (
        BudgetFigures(case="limited", budgets=len(budgets), usd_left=min(one.left for one in budgets))
        if budgets
        else BudgetFigures()
    )
    remarks = tuple(Remark(code=RemarkCode.BUDGET_NEAR, **budget.stored()) for budget in near)
    return StageResult(near, figures, StageStatus.NOTICED if near else StageStatus.OK, remarks)


def mark_notifications(context: RequestContext) -> StageResult[None]:
    """Marks open notifications as seen, except those of queued messages. Only in the first step."""
    if context.step > 1:
        return StageResult(None, NotificationFigures(case="round"), StageStatus.NOTHING)
    seen = Notification.objects.mark_seen(context.session.pk) if context.has_notifications else []
    if not seen:
        return StageResult(None, NotificationFigures(case="none"), StageStatus.NOTHING)
    figures = NotificationFigures(case="seen", seen=len(seen))
    return StageResult(None, figures, remarks=tuple(one.remark for one in seen))


@dataclass(frozen=True, slots=True)
class History:
    """The branch in view, oldest first: history chunks, then buffered turns.

    `language` is the newest that was said of a message in it (`Buffered`).
    """

    chunks: tuple[ChunkValue, ...]
    turns: tuple[TurnValue, ...]
    language: str = ""


@dataclass(frozen=True, slots=True)
class ValidHistory:
    """A history that may be sent; `notes` are the changes made to it."""

    history: History
    notes: tuple[Remark, ...]


def snapshot(context: RequestContext) -> StageResult[History]:
    """Reads the branch in view; within a run, without the chunks made since its first request."""
    limit = context.first.newest_chunk if context.first else ANY_CHUNK
    turns, newest, language = Turn.objects.buffered(context.session.head_id, limit)
    history = History(HistoryChunk.objects.chain(newest), turns, language)
    return StageResult(history, HistoryFigures(chunks=len(history.chunks), turns=len(history.turns)))


def detach(context: RequestContext, before: History, caching: ChosenCaching) -> StageResult[History]:
    """Freezes old turns into history chunks as the thresholds require, permanently."""
    places = cuts(before.turns, caching.thresholds)
    if not places:
        return StageResult(before, _figures(before, before), StageStatus.NOTHING)
    chunks = _freeze(context, before, places, caching.strategy.record.policy)
    history = replace(before, chunks=chunks, turns=before.turns[places[-1] :])
    remarks = tuple(
        Remark(code=RemarkCode.CHUNK_FROZEN, chunk=chunk.key, tokens=chunk.tokens)
        for chunk in chunks[len(before.chunks) :]
    )
    return StageResult(history, _figures(before, history), remarks=remarks)


def validate(context: RequestContext, history: History) -> StageResult[ValidHistory]:
    """Repairs the history, or refuses it (`strict`), and replaces signatures of other routes.

    Raises HistoryInvalid, FilesNotUploaded.
    """
    turns, repairs = history.turns, tuple[Remark, ...]()
    if broken := violations(turns):
        if context.options.history_policy == "strict":
            stored = [violation.stored() for violation in broken]
            raise HistoryInvalid(RefusalCode.HISTORY_INVALID, violations=stored)
        turns, repairs = repair(turns)
    turns = resolve_files(context.session, turns, context.endpoint.route)
    required = context.capabilities.signatures_required
    turns, dressing = signatures.prepare_signatures(turns, route=context.route, required=required)
    valid = ValidHistory(replace(history, turns=turns), (*repairs, *dressing))
    figures = ValidFigures(
        case="repaired" if valid.notes else "valid", turns=len(turns), turns_before=len(history.turns)
    )
    return StageResult(valid, figures, StageStatus.REPAIRED if valid.notes else StageStatus.OK, repairs)


@transaction.atomic
def _freeze(
    context: RequestContext, history: History, places: tuple[int, ...], policy: str
) -> tuple[ChunkValue, ...]:
    parent = int(history.chunks[-1].key) if history.chunks else None
    start = 0
    for end in places:
        turns = history.turns[start:end]
        parent = HistoryChunk.objects.freeze(context.session, parent, turns, policy).pk
        start = end
    return HistoryChunk.objects.chain(parent)


def _figures(before: History, after: History) -> HistoryFigures:
    return HistoryFigures(
        chunks=len(after.chunks),
        turns=len(after.turns),
        chunks_before=len(before.chunks),
        turns_before=len(before.turns),
    )


@dataclass(frozen=True, slots=True)
class RenderedTexts:
    """The texts of the static layer, and the panel of those that moved to the dynamic layer."""

    static: StaticSources
    instructions: Panel | None


def offer_tools(context: RequestContext) -> StageResult[None]:
    """Names what the model, or the form of the request, does not let it ask for."""
    offer = context.offer
    figures = OfferFigures(
        functions=len(context.tools),
        tools=offer.tools,
        schemas=int(offer.has_schema),
        left=len(offer.left_out),
    )
    model = context.capabilities.model
    remarks = tuple(
        Remark(code=RemarkCode.LEFT_OUT, what=one.what, why=one.why.value, model=model)
        for one in offer.left_out
    )
    return StageResult(None, figures, StageStatus.NOTICED if remarks else StageStatus.OK, remarks)


def prepare_arguments(context: RequestContext, history: History) -> StageResult[Arguments]:
    """The prompt arguments, the same in every step of a run."""
    message = message_of(context.run, history.language)
    found = arguments_of(context.session, message, context.run.now, context.render_time)
    figures = ArgumentFigures(own=len(found.values["args"]), names=len(found.values))
    status = StageStatus.NOTICED if found.remarks else StageStatus.OK
    return StageResult(found, figures, status, found.remarks)


def refresh_panels(context: RequestContext, arguments: Arguments) -> StageResult[tuple[Panel, ...]]:
    """Reads the active panels; `changed` of a panel is the time its content changed."""
    on = frozenset(context.tools)
    tools = {name: name in on for name in context.toolbox.names}
    workspace = workspace_of(context.session.owner_id)
    began = context.run.now
    render = rendering_of(context.session, lambda: arguments.values, context.render_time)
    read = read_and_keep(context.session, workspace, timezone.now(), tools=tools, began=began, render=render)
    panels = tuple(sent.panel for one in read for sent in one.sent)
    noted = [one for one in read if one.sent or one.problem]
    figures = PanelFigures(
        kinds=len(read),
        panels=len(panels),
        tokens=sum(one.tokens for one in noted),
        changed=sum(one.changed for one in noted),
    )
    status = StageStatus.NOTICED if any(one.problem for one in noted) else StageStatus.OK
    remarks = tuple(map(_remark, noted))
    return StageResult(panels, figures, status, remarks)


def render_texts(context: RequestContext, arguments: Arguments) -> StageResult[RenderedTexts]:
    """Renders each text of the session."""
    owner, time = context.session.owner_id, context.render_time
    texts = render_session_texts(read_texts(context.session), arguments, owner=owner, time=time)
    rendered = RenderedTexts(
        static_sources(context.session, texts, context.tools), instructions_panel(texts, context.run.now)
    )
    templates = sum(each.rendered.status != "plain" for each in texts)
    figures = TemplateFigures(
        case="rendered" if templates else "written",
        texts=sum(bool(each.text.body) for each in texts),
        templates=templates,
    )
    remarks = tuple(line for each in texts for line in each.remarks)
    return StageResult(rendered, figures, rendering_status(texts), remarks)


def order_panels(panels: tuple[Panel, ...], moved: Panel | None) -> StageResult[tuple[Panel, ...]]:
    """Orders panels by their last change, oldest first, which keeps the longest unchanged prefix."""
    ordered = sorted_panels((*panels, moved) if moved else panels)
    since = tuple(
        Remark(code=RemarkCode.PANEL_SINCE, panel=panel.key, since=f"{panel.changed:%Y-%m-%d %H:%M:%S}")
        for panel in ordered
    )
    return StageResult(ordered, OrderFigures(panels=tuple(panel.key for panel in ordered)), remarks=since)


def build_layers(
    context: RequestContext, history: History, static: StaticSources, panels: tuple[Panel, ...]
) -> StageResult[Layers]:
    """The four layers. Raises PromptError without a trigger."""
    built = layers.build_layers(
        replace(static, history=history.chunks),
        panels,
        rounded_time(context.run.now, context.options),
        history.turns,
        context.toolbox.declarations(context.tools),
        own_tools=context.offer.tools,
        clock_minutes=context.options.clock_minutes,
    )
    return StageResult(built, LayerFigures(turns=len(history.turns), buffered=len(built.buffered)))


def _remark(read: ReadPanel) -> Remark:
    """`files` are those with several pages; `problem` is the error of reading the panel."""
    return Remark(
        code=RemarkCode.PANEL_READ,
        panel=read.kind.key,
        is_sent=bool(read.sent),
        tokens=read.tokens,
        changed=read.changed,
        page=read.page,
        pages=read.pages,
        files=[
            {"path": file.path, "page": file.page, "pages": file.pages}
            for file in read.files
            if file.pages > 1
        ],
        problem=read.problem,
    )
