"""The stages of a request: what each is called, what its status means, what came in and what came out."""

from collections.abc import Mapping
from typing import Any

from sessions_app.prompt.stage_records import OfferFigures, StageFigures, StageName, StageRecord, StageStatus
from sessions_app.wording import provider_tools, remarks
from sessions_app.wording.sentences import fill

TITLES: dict[str, str] = {
    StageName.BUILD_TRIGGER: "Build the trigger",
    StageName.CHECK_BUDGET: "Check the budget",
    StageName.MARK_NOTIFICATIONS: "Mark notifications",
    StageName.SNAPSHOT_HISTORY: "Snapshot the history",
    StageName.DETACH_HISTORY: "Detach old history",
    StageName.VALIDATE_HISTORY: "Validate the history",
    StageName.OFFER_TOOLS: "Offer tools",
    StageName.PREPARE_ARGUMENTS: "Prepare the prompt arguments",
    StageName.REFRESH_PANELS: "Refresh the panels",
    StageName.RENDER_TEMPLATES: "Render the templates",
    StageName.ORDER_PANELS: "Order the panels",
    StageName.BUILD_LAYERS: "Build the layers",
    StageName.PLAN_CACHE: "Plan the cache",
    StageName.CHECK: "Check the request",
    StageName.SEND: "Send",
    StageName.ACCOUNT: "Account",
    StageName.CONTINUE: "Continue",
}

MEANINGS: dict[str, str] = {
    StageStatus.OK: "done",
    StageStatus.NOTHING: "nothing to do",
    StageStatus.NOTICED: "done, with something to know",
    StageStatus.REPAIRED: "repaired",
    StageStatus.FALLBACK: "fell back to the original text",
    StageStatus.BLOCKED: "refused: nothing was sent",
    StageStatus.FAILED: "the request or its answer failed",
}

CAME_IN: dict[tuple[str, str], str] = {
    (StageName.BUILD_TRIGGER, "user_text"): "user text",
    (StageName.BUILD_TRIGGER, "tool_results"): "tool results",
    (StageName.CHECK_BUDGET, "unlimited"): "{budgets} budgets",
    (StageName.CHECK_BUDGET, "limited"): "{budgets} budgets",
    (StageName.MARK_NOTIFICATIONS, "round"): "a round of tools",
    (StageName.MARK_NOTIFICATIONS, "none"): "no notification",
    (StageName.MARK_NOTIFICATIONS, "seen"): "{seen} open",
    (StageName.SNAPSHOT_HISTORY, ""): "the branch in view",
    (StageName.DETACH_HISTORY, ""): "{chunks_before} history chunks, {turns_before} turns",
    (StageName.VALIDATE_HISTORY, "valid"): "{turns_before} turns",
    (StageName.VALIDATE_HISTORY, "repaired"): "{turns_before} turns",
    (StageName.OFFER_TOOLS, ""): "{wanted} wanted",
    (StageName.REFRESH_PANELS, ""): "{kinds} kinds on",
    (StageName.PREPARE_ARGUMENTS, ""): "{own} arguments of the session",
    (StageName.RENDER_TEMPLATES, "written"): "{texts} texts",
    (StageName.RENDER_TEMPLATES, "rendered"): "{texts} texts",
    (StageName.ORDER_PANELS, ""): "{count} panels",
    (StageName.BUILD_LAYERS, ""): "{turns} turns",
    (StageName.PLAN_CACHE, ""): "fingerprint {fingerprint:.12}, {mode} and {policy}",
    (StageName.CHECK, ""): "the payload",
    (StageName.SEND, "answered"): "{size:,} bytes",
    (StageName.SEND, "failed"): "{size:,} bytes",
    (StageName.ACCOUNT, ""): "{prompt:,} prompt, {output:,} output tokens",
    (StageName.ACCOUNT, "uncounted"): "nothing counted",
    (StageName.CONTINUE, "message"): "the run: {ended}",
    (StageName.CONTINUE, "cut"): "the run: {ended}",
    (StageName.CONTINUE, "todos"): "the run: {ended}",
    (StageName.CONTINUE, "held_cut"): "the run: {ended}",
    (StageName.CONTINUE, "held_todos"): "the run: {ended}",
    (StageName.CONTINUE, "stopped"): "the run: {ended}",
    (StageName.CONTINUE, "failed"): "the run: {ended}",
    (StageName.CONTINUE, "interrupted"): "the run: {ended}",
    (StageName.CONTINUE, "nothing"): "the run: {ended}",
}
"""By stage and case of its figures."""

CAME_OUT: dict[tuple[str, str], str] = {
    (StageName.BUILD_TRIGGER, "user_text"): "a user task of {characters} characters",
    (StageName.BUILD_TRIGGER, "tool_results"): "the tool responses of round {round}",
    (StageName.CHECK_BUDGET, "unlimited"): "no limit",
    (StageName.CHECK_BUDGET, "limited"): "{usd_left} left",
    (StageName.MARK_NOTIFICATIONS, "round"): "",
    (StageName.MARK_NOTIFICATIONS, "none"): "",
    (StageName.MARK_NOTIFICATIONS, "seen"): "seen",
    (StageName.SNAPSHOT_HISTORY, ""): "{chunks} history chunks, {turns} turns",
    (StageName.DETACH_HISTORY, ""): "{chunks} history chunks, {turns} turns",
    (StageName.VALIDATE_HISTORY, "valid"): "valid",
    (StageName.VALIDATE_HISTORY, "repaired"): "{turns} turns",
    (StageName.OFFER_TOOLS, ""): "{offered}",
    (StageName.REFRESH_PANELS, ""): "{panels} panels, {tokens:,} tokens, {changed} changed",
    (StageName.PREPARE_ARGUMENTS, ""): "{names} names",
    (StageName.RENDER_TEMPLATES, "written"): "as written",
    (StageName.RENDER_TEMPLATES, "rendered"): "{templates} templates",
    (StageName.ORDER_PANELS, ""): "{panels}",
    (StageName.BUILD_LAYERS, ""): "{buffered} buffered, one trigger",
    (StageName.PLAN_CACHE, ""): "{action}",
    (StageName.CHECK, ""): "{items} items, {size:,} bytes",
    (StageName.SEND, "answered"): "{outcome}",
    (StageName.SEND, "failed"): "{error}",
    (StageName.ACCOUNT, ""): "{usd}",
    (StageName.ACCOUNT, "uncounted"): "",
    (StageName.CONTINUE, "message"): "goes on: {waiting} waiting; the oldest message is next.",
    (
        StageName.CONTINUE,
        "cut",
    ): "goes on: The answer was cut at the output limit. Continuation {numbered}.",
    (
        StageName.CONTINUE,
        "todos",
    ): "goes on: {todos} todos are open. Continuation {numbered}.",
    (
        StageName.CONTINUE,
        "held_cut",
    ): "ends: The answer was cut at the output limit, and a limit of the session holds what follows.",
    (
        StageName.CONTINUE,
        "held_todos",
    ): "ends: {todos} todos are open, and a limit of the session holds what follows.",
    (StageName.CONTINUE, "stopped"): "ends: A person stopped the run, so nothing goes on by itself.",
    (StageName.CONTINUE, "failed"): "ends: The run failed; a message or a retry goes on.",
    (
        StageName.CONTINUE,
        "interrupted",
    ): "ends: The server stopped in the middle; a message or a retry goes on.",
    (StageName.CONTINUE, "nothing"): "ends: No message waits, and no rule asks for more.",
}


NUMBERED = {"limited": "{continuation} of at most {most}", "unlimited": "{continuation}"}
"""Which continuation it is."""


OFFERED = {"functions": "{functions} functions", "schema": "an answer by a schema", "none": "nothing"}
"""What a request asks for beside the provider's tools, which have their names."""


def title(name: str) -> str:
    return TITLES.get(name) or name.replace("_", " ").capitalize()


def meaning(status: str) -> str:
    return MEANINGS.get(status, status)


def input_and_output(record: StageRecord) -> tuple[str, str]:
    """What came in and what came out: of a stage that refused, why; of an earlier version, its sentences."""
    if record.figures is None:
        refused = remarks.sentence(record.remarks[0]) if record.is_blocked and record.remarks else ""
        return record.came_in, record.came_out or refused
    key, figures = (record.name, record.figures.case), shown_figures(record.figures)
    return fill(CAME_IN.get(key, ""), figures), fill(CAME_OUT.get(key, ""), figures)


def further_remarks(record: StageRecord, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """The remarks of the record, without the one that `input_and_output` returns.

    `numbers` are those of turns, by key.
    """
    first = 1 if record.figures is None and record.is_blocked and not record.came_out else 0
    texts = (remarks.sentence_at(one, numbers.get(one.turn, 0)) for one in record.remarks[first:])
    return tuple(filter(None, texts))


def shown_figures(figures: StageFigures) -> dict[str, Any]:
    """What the sentences of a stage may name: its figures, and what follows from them."""
    shown = figures.model_dump()
    panels = shown.get("panels")
    if isinstance(panels, tuple):
        shown["count"] = len(panels)
    if isinstance(figures, OfferFigures):
        shown |= _offered(figures)
    if "most" in shown:
        shown["numbered"] = NUMBERED["unlimited" if shown["most"] is None else "limited"].format(**shown)
    if "outcome" in shown:
        shown["outcome"] = str(shown["outcome"]).replace("_", " ")
    return shown


def _offered(figures: OfferFigures) -> dict[str, str]:
    names = [OFFERED["functions"].format(functions=figures.functions)] if figures.functions else []
    names += [provider_tools.name(tool) for tool in figures.tools]
    names += [OFFERED["schema"]] if figures.schemas else []
    wanted = len(names) + figures.left
    return {"wanted": str(wanted), "offered": ", ".join(names) or OFFERED["none"]}
