"""The durable event log of a run: what viewers of any process read and resume from."""

from collections.abc import Sequence
from typing import Self

from django.db import models

from sessions_app.models.run import Run


class RunLogQuerySet(models.QuerySet["RunLog"]):
    def after(self, run_pk: int, seq: int) -> Self:
        """Rows that hold something later than `seq`, in order."""
        return self.filter(run_id=run_pk, seq_to__gt=seq).order_by("seq_from")


class RunLog(models.Model):
    """One flush of one run: the events `seq_from`…`seq_to`, a JSON text per line."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="log")
    attempt = models.PositiveSmallIntegerField(
        default=1,
        help_text="Counts the processes that worked on the run: a client can be ahead of a dead one.",
    )
    seq_from = models.PositiveIntegerField()
    seq_to = models.PositiveIntegerField()
    body = models.BinaryField(help_text="The events as they were sent to the browser.")

    objects = RunLogQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "attempt", "seq_from"], name="log_once")]

    def __str__(self) -> str:
        return f"events {self.seq_from}–{self.seq_to}"

    @classmethod
    def of(cls, run: Run, first: int, wires: Sequence[str]) -> Self:
        """A row for events that are numbered from `first`."""
        body = "\n".join(wires).encode()
        return cls(run=run, attempt=run.attempt, seq_from=first, seq_to=first + len(wires) - 1, body=body)

    @property
    def wires(self) -> list[str]:
        return bytes(self.body).decode().split("\n")
