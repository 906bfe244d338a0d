"""The calls of a tool round, one row each: what keeps a call from running twice."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Self

import orjson
from django.db import models, transaction
from django.utils import timezone

from sessions_app.mcp_codes import Decision
from sessions_app.models.run import Run
from sessions_app.prompt.wire import dumps

NOT_ASKED: Mapping[str, Any] = {"asked_at": None, "expires_at": None, "decision": ""}


class ToolCallQuerySet(models.QuerySet["ToolCall"]):
    @transaction.atomic
    def begin(self, run_pk: int, turn_pk: int, index: int) -> None:
        """Stores that a call begins, to be committed before the tool runs. Raises RunEnded."""
        Run.objects.hold(run_pk)
        self.bulk_create(
            [ToolCall(run_id=run_pk, turn_id=turn_pk, index=index, began_at=timezone.now())],
            update_conflicts=True,
            unique_fields=["turn", "index"],
            update_fields=["run", "began_at"],
        )

    def finish(self, turn_pk: int, index: int, response: Mapping[str, Any]) -> None:
        """Stores the response and the end of a call, in the transaction of its effects."""
        rows = self.filter(turn_id=turn_pk, index=index)
        rows.update(response=dumps(dict(response)), ended_at=timezone.now())

    def add_unbegun(self, run_pk: int, turn_pk: int, indices: Collection[int]) -> None:
        """Rows for calls that have none: a later run may begin them."""
        rows = (ToolCall(run_id=run_pk, turn_id=turn_pk, index=index) for index in indices)
        self.bulk_create(rows, ignore_conflicts=True)

    def ask(self, run_pk: int, turn_pk: int, indices: Collection[int], expires_at: datetime) -> None:
        """Asks a person about calls that have not begun; what was decided in an earlier run is forgotten.

        Must run in a transaction that holds the run.
        """
        asked = {"run_id": run_pk, "turn_id": turn_pk, "asked_at": timezone.now(), "expires_at": expires_at}
        self.bulk_create(
            [ToolCall(index=index, **asked) for index in indices],
            update_conflicts=True,
            unique_fields=["turn", "index"],
            update_fields=["run", "asked_at", "expires_at", "decision"],
        )

    def open_asks(self) -> Self:
        """Asks of runs that wait, without an answer."""
        waiting = self.filter(run__status=Run.Status.WAITING)
        return waiting.filter(asked_at__isnull=False, began_at=None, ended_at=None, decision="")

    def of_turn(self, turn_pk: int) -> "dict[int, ToolCall]":
        """The rows of a function calling turn by the index of the call."""
        return {row.index: row for row in self.filter(turn_id=turn_pk)}

    def allow_repeats(self, turn_pk: int, run_pk: int) -> None:
        """Lets this run alone repeat the calls of the turn of which it is unknown whether they ran."""
        unknown = self.filter(turn_id=turn_pk, ended_at=None).exclude(began_at=None, may_have_run=False)
        unknown.update(began_at=None, may_have_run=True, run=run_pk, **NOT_ASKED)


class ToolCall(models.Model):
    """A call of a function calling turn.

    Without `began_at` it has not begun in `run`. Begun and without `ended_at`, in a run that is over, it is
    unknown whether it ran.
    """

    turn = models.ForeignKey("Turn", on_delete=models.CASCADE, related_name="tool_calls")
    index = models.PositiveIntegerField(help_text="Counts the calls of the turn from 0.")
    run = models.ForeignKey(
        "Run", on_delete=models.CASCADE, related_name="tool_calls", help_text="The last that dealt with it."
    )
    began_at = models.DateTimeField(null=True, blank=True)
    may_have_run = models.BooleanField(
        default=False, help_text="A run before `run` had begun it, and it is unknown whether it ran."
    )
    asked_at = models.DateTimeField(null=True, blank=True, help_text="When a person was asked in `run`.")
    expires_at = models.DateTimeField(null=True, blank=True, help_text="An open ask is refused then.")
    decision = models.CharField(
        max_length=8,
        blank=True,
        choices=[(one.value, one.value) for one in Decision],
        help_text="What became of the ask; empty while it is open.",
    )
    ended_at = models.DateTimeField(null=True, blank=True, help_text="Its effects are committed.")
    # Not JSONField: PostgreSQL refuses NUL in it, and the response is sent with these bytes.
    response = models.BinaryField(default=b"", help_text="The response as JSON.")

    objects = ToolCallQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["turn", "index"], name="tool_call_once")]

    def __str__(self) -> str:
        return f"call {self.index} of turn {self.turn_id}"

    @property
    def has_ended(self) -> bool:
        return self.ended_at is not None

    @property
    def is_unknown(self) -> bool:
        return self.ended_at is None and (self.began_at is not None or self.may_have_run)

    def is_open_to(self, run_pk: int) -> bool:
        """Whether the run may begin it: it never began, or this run was allowed to repeat it."""
        return self.began_at is None and (not self.may_have_run or self.run_id == run_pk)

    def decided_in(self, run_pk: int) -> str:
        """What a person decided about it in this run (`Decision`); empty where nothing was."""
        return self.decision if self.run_id == run_pk else ""

    @property
    def value(self) -> dict[str, Any]:
        """The response of a call that has ended."""
        found: dict[str, Any] = orjson.loads(bytes(self.response))
        return found
