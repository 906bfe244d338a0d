"""What a session works on: todos, files that it shows the model, files that the model wrote."""

from typing import TYPE_CHECKING

from django.db import models, transaction
from django.utils import timezone

from sessions_app.models.numbering import next_position
from sessions_app.models.run import storable

if TYPE_CHECKING:
    from sessions_app.models.session import Session

TITLE_LIMIT = 300
"""Characters of a todo."""


class TodoQuerySet(models.QuerySet["Todo"]):
    @transaction.atomic
    def add_to(self, session: "Session", title: str) -> "Todo":
        position = next_position(self.all(), session)
        return self.create(session=session, position=position, title=storable(title.strip(), TITLE_LIMIT))

    def tick(self, *, done: bool = True) -> int:
        return self.exclude(done=done).update(done=done, changed_at=timezone.now())

    def reword(self, title: str) -> int:
        return self.update(title=storable(title.strip(), TITLE_LIMIT), changed_at=timezone.now())


class Todo(models.Model):
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="todos")
    position = models.PositiveIntegerField(help_text="Counts from 1; what people and the model call it by.")
    title = models.CharField(max_length=TITLE_LIMIT)
    done = models.BooleanField(default=False)
    changed_at = models.DateTimeField(default=timezone.now)

    objects = TodoQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["session", "position"], name="todo_position_once")]

    def __str__(self) -> str:
        return f"{self.position}. {self.title}"


class ReferenceQuerySet(models.QuerySet["Reference"]):
    def open_in(self, session: "Session", path: str, *, ttl: int | None = None, born: int = 0) -> "Reference":
        """Shows a file from the next request on, from its first page; opened again, it begins anew.

        `ttl` counts messages of the person after `born`, how many there are now; None is for ever.
        """
        life = {"enabled": True, "ttl": ttl, "born": born, "page": 1}
        reference, _ = self.update_or_create(
            session=session, path=path, defaults=life, create_defaults=life | {"path": path}
        )
        return reference

    def switch(self, *, on: bool) -> int:
        """Shows or hides; what is hidden stays in the list."""
        return self.update(enabled=on)

    def pin(self, *, on: bool = True) -> int:
        """A pinned file stays, whatever its time to live."""
        return self.update(pinned=on)

    def live_for(self, ttl: int | None, *, born: int) -> int:
        return self.update(ttl=ttl, born=born)

    def turn_to(self, page: int) -> int:
        """Shows another page; one beyond the last is taken for the last."""
        return self.update(page=max(1, page))


class Reference(models.Model):
    """A file of the workspace whose content the model sees."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="references")
    path = models.CharField(max_length=400)
    enabled = models.BooleanField(default=True)
    pinned = models.BooleanField(default=False, help_text="Stays, whatever its time to live.")
    ttl = models.PositiveIntegerField(
        null=True, blank=True, help_text="User turns it stays for; null: for ever."
    )
    born = models.PositiveIntegerField(default=0, help_text="User turns of the branch when it was opened.")
    page = models.PositiveIntegerField(default=1)
    added_at = models.DateTimeField(default=timezone.now)

    objects = ReferenceQuerySet.as_manager()

    class Meta:
        ordering = ["added_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["session", "path"], name="reference_once")]

    def __str__(self) -> str:
        return self.path


class Artifact(models.Model):
    """A file of the workspace that the model wrote."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="artifacts")
    path = models.CharField(max_length=400)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["session", "path"], name="artifact_once")]

    def __str__(self) -> str:
        return self.path
