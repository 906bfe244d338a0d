"""The request pipeline: one list of named stages, each of which leaves a record (design §5)."""

from collections.abc import Callable
from time import perf_counter

from sessions_app.errors import BudgetSpent, PromptError
from sessions_app.runs.pipeline import (
    arguments,
    budget,
    cache,
    checks,
    history,
    layers,
    notifications,
    panels,
    trigger,
)
from sessions_app.runs.pipeline.work import Door, Report, Work

__all__ = ["STAGES", "Door", "Report", "Work", "prepare_payload", "record"]

Stage = Callable[[Work], Report]

STAGES: tuple[tuple[str, Stage], ...] = (
    ("build_trigger", trigger.build),
    ("check_budget", budget.check),
    ("mark_notifications", notifications.mark),
    ("snapshot_history", history.snapshot),
    ("detach_history", history.detach),
    ("validate_history", history.validate),
    ("refresh_panels", panels.refresh),
    ("prepare_prompt_arguments", arguments.prepare),
    ("render_templates", arguments.render),
    ("order_panels", panels.order),
    ("build_layers", layers.build),
    ("plan_cache", cache.plan),
    ("check", checks.check),
)
"""What happens before a request is sent. After it come send, account and continue (`runs/settle`)."""


def prepare_payload(work: Work) -> None:
    """Runs every stage; `work.records` tells of each, also of the one that refused.

    Raises PromptError or BudgetSpent when nothing may be sent.
    """
    for name, stage in STAGES:
        began = perf_counter()
        try:
            report = stage(work)
        except (PromptError, BudgetSpent) as error:
            record(
                work, name, Report("", error.message, "blocked", (error.hint,) if error.hint else ()), began
            )
            raise
        record(work, name, report, began)


def record(work: Work, name: str, report: Report, began: float) -> None:
    work.records.append(
        {
            "name": name,
            "status": report.status,
            "came_in": report.came_in,
            "came_out": report.came_out,
            "details": list(report.details),
            "ms": round((perf_counter() - began) * 1000, 3),
        }
    )
