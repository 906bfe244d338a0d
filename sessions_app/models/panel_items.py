"""Rows behind the panels: what people and the model put there, and the state of each panel."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone

from sessions_app.models.columns import storable
from sessions_app.models.session import next_number

if TYPE_CHECKING:
    from sessions_app.models.session import Session

TODO_TITLE_LIMIT = 300
PATH_LIMIT = 400
PANEL_KEY_LIMIT = 80 + 1 + PATH_LIMIT
"""A kind, and the path of a file."""

NOTE_LIMIT = 100_000
NOTE_TITLE_LIMIT = 120
MEMORY_LIMIT = 2_000
LINE_LIMIT = 1_000


class TodoQuerySet(models.QuerySet["Todo"]):
    @transaction.atomic
    def add_to(self, session: "Session", title: str) -> "Todo":
        position = next_number(self.all(), session.pk, "position")
        return self.create(
            session=session, position=position, title=storable(title.strip(), TODO_TITLE_LIMIT)
        )

    def set_done(self, *, done: bool = True) -> int:
        return self.exclude(done=done).update(done=done, changed_at=timezone.now())

    def reword(self, title: str) -> int:
        return self.update(title=storable(title.strip(), TODO_TITLE_LIMIT), changed_at=timezone.now())


class Todo(models.Model):
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="todos")
    position = models.PositiveIntegerField(help_text="Counts from 1; what people and the model call it by.")
    title = models.CharField(max_length=TODO_TITLE_LIMIT)
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
        """Shows a file, from its first page; an open one starts again.

        `ttl` counts user tasks after `born`, the number on the branch now; None means without end.
        """
        life = {"enabled": True, "ttl": ttl, "born": born, "page": 1}
        reference, _ = self.update_or_create(
            session=session, path=path, defaults=life, create_defaults=life | {"path": path}
        )
        return reference

    def switch(self, *, on: bool) -> int:
        return self.update(enabled=on)

    def pin(self, *, on: bool = True) -> int:
        return self.update(pinned=on)

    def set_ttl(self, ttl: int | None, *, born: int) -> int:
        return self.update(ttl=ttl, born=born)

    def set_page(self, page: int) -> int:
        return self.update(page=max(1, page))


class Reference(models.Model):
    """A file of the workspace whose content the model sees."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="references")
    path = models.CharField(max_length=PATH_LIMIT)
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
    path = models.CharField(max_length=PATH_LIMIT)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["session", "path"], name="artifact_once")]

    def __str__(self) -> str:
        return self.path


class MemoryQuerySet(models.QuerySet["Memory"]):
    def remember(
        self, owner_id: int, text: str, importance: str = "medium", *, session: "Session | None" = None
    ) -> "Memory":
        """Creates the memory; an equal text only gets the new importance.

        Whoever calls this holds what the person's sessions share (`PersonalUsage.objects.hold`).
        """
        text = storable(text.strip(), MEMORY_LIMIT)
        equal = self.filter(owner_id=owner_id, text=text)
        if equal.update(importance=importance):
            return equal[0]
        return self.create(owner_id=owner_id, text=text, importance=importance, session=session)

    def reword(self, text: str, importance: str) -> int:
        text = storable(text.strip(), MEMORY_LIMIT)
        return self.update(text=text, importance=importance, changed_at=timezone.now())


class Memory(models.Model):
    """A fact that all sessions of a person send."""

    class Importance(models.TextChoices):
        LOW = "low"
        MEDIUM = "medium"
        HIGH = "high"
        CRITICAL = "critical"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memories")
    session = models.ForeignKey(
        "Session",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="memories",
        help_text="Where it was made.",
    )
    text = models.TextField()
    importance = models.CharField(max_length=8, choices=Importance, default=Importance.MEDIUM)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(default=timezone.now)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "memories"

    def __str__(self) -> str:
        return f"memory {self.pk}"


class NoteQuerySet(models.QuerySet["Note"]):
    @transaction.atomic
    def add_to(self, session: "Session", text: str, title: str = "") -> "Note":
        position = next_number(self.all(), session.pk, "position")
        title, text = storable(title, NOTE_TITLE_LIMIT), storable(text, NOTE_LIMIT)
        return self.create(session=session, position=position, title=title, text=text)

    @transaction.atomic
    def rewrite(self, text: str, *, append: bool = False) -> int:
        """Replaces the text of each note, or appends to it; returns how many."""
        for note in (notes := list(self.select_for_update(of=("self",)))):
            new = f"{note.text}\n{text}" if append and note.text else text
            note.text, note.changed_at = storable(new, NOTE_LIMIT), timezone.now()
            note.save(update_fields=["text", "changed_at"])
        return len(notes)


class Note(models.Model):
    """One cell of a session's scratchpad."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="notes")
    position = models.PositiveIntegerField(help_text="Counts from 1; what people and the model call it by.")
    title = models.CharField(max_length=NOTE_TITLE_LIMIT, blank=True)
    text = models.TextField()
    changed_at = models.DateTimeField(default=timezone.now)

    objects = NoteQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["session", "position"], name="note_position_once")]

    def __str__(self) -> str:
        return f"note {self.position}"


class LogEntryQuerySet(models.QuerySet["LogEntry"]):
    def add_to(self, session: "Session", text: str) -> "LogEntry":
        return self.create(session=session, text=storable(text.strip(), LINE_LIMIT))


class LogEntry(models.Model):
    """One line of a session's log."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="log_entries")
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = LogEntryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "log entries"

    def __str__(self) -> str:
        return f"log entry {self.pk}"


class PanelStateQuerySet(models.QuerySet["PanelState"]):
    def set_page(self, session: "Session", key: str, page: int) -> None:
        kept = {"page": max(1, page)}
        self.update_or_create(session=session, key=key, defaults=kept, create_defaults=kept | {"sha256": ""})


class PanelState(models.Model):
    """One panel of one session, of files one each; `changed_at` is when its content last changed (seed 4)."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="panel_states")
    key = models.CharField(max_length=PANEL_KEY_LIMIT)
    sha256 = models.CharField(max_length=64, help_text="Of the content as it is sent.")
    tokens = models.PositiveIntegerField(default=0, help_text="Estimated.")
    page = models.PositiveIntegerField(default=1)
    changed_at = models.DateTimeField(default=timezone.now)

    objects = PanelStateQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="panel_state_once")]

    def __str__(self) -> str:
        return f"panel state {self.pk}"


class Reading(models.Model):
    """The last output of a program (git, gh, an allowed command)."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="readings")
    key = models.CharField(max_length=80)
    text = models.TextField(blank=True)
    failed = models.BooleanField(default=False)
    read_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="reading_once")]

    def __str__(self) -> str:
        return f"reading {self.pk}"


class AllowedCommand(models.Model):
    """A command of the console panel; only admins add one."""

    name = models.SlugField(max_length=40, unique=True)
    argv = models.JSONField(help_text='Program and arguments, without a shell: ["df", "-h", "."].')
    every = models.PositiveIntegerField(default=120, help_text="Seconds between two looks.")
    timeout = models.PositiveIntegerField(default=10, help_text="Seconds it may take.")
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_runnable(self) -> bool:
        """Whether argv is a program and its arguments: strings without NUL."""
        words = self.argv if isinstance(self.argv, list) else []
        return bool(words and words[0]) and all(isinstance(word, str) and "\0" not in word for word in words)

    def clean(self) -> None:
        if not self.is_runnable:
            raise ValidationError({"argv": 'Write a list of words, such as ["df", "-h", "."].'})
