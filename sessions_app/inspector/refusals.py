"""Runs whose request was refused before it was sent: no exchange, but the stages say why."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet
from django.db.models.functions import Left

from sessions_app.inspector import texts
from sessions_app.inspector.stages import Stage, stages_of
from sessions_app.models import Run, Session

QUOTED = 90


@dataclass(frozen=True, slots=True)
class Refusal:
    """`at` is when the run ended: about when the request would have been sent."""

    run: Run
    asked: str
    at: datetime

    @property
    def stages(self) -> list[Stage]:
        return stages_of(self.run.stages)

    @property
    def blocking(self) -> Stage | None:
        return next((stage for stage in self.stages if stage.status == "blocked"), None)

    @property
    def words(self) -> str:
        """Why nothing was sent."""
        error = texts.visible(str(self.run.error.get("message", "")))
        return error or (self.blocking.came_out if self.blocking else "")

    @property
    def hint(self) -> str:
        return texts.visible(str(self.run.error.get("hint", "")))


def refused_runs(session: Session) -> QuerySet[Run]:
    return Run.objects.filter(session=session).exclude(stages=[])


def refusals_of(session: Session) -> list[Refusal]:
    """All of a session, newest first: one query."""
    rows = refused_runs(session).annotate(asked=Left(F("trigger__text"), QUOTED)).order_by("-started_at")
    return [refusal_of(run, getattr(run, "asked", "") or "") for run in rows]


def refusal_of(run: Run, asked: str) -> Refusal:
    return Refusal(run, texts.visible(asked), run.ended_at or run.started_at)
