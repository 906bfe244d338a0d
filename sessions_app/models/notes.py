"""What is written down to be known later: memories of a person, notes and the log of a session."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from sessions_app.models.numbering import next_position
from sessions_app.models.run import storable

if TYPE_CHECKING:
    from sessions_app.models.session import Session

MEMORY_LIMIT = 2_000
"""Characters of one memory: it is sent with every request of every session."""

NOTE_LIMIT = 100_000
LINE_LIMIT = 1_000


class MemoryQuerySet(models.QuerySet["Memory"]):
    def remember(
        self, owner_id: int, text: str, importance: str = "medium", *, session: "Session | None" = None
    ) -> "Memory":
        """Keeps a memory once, however often it is said; the last importance holds."""
        memory, _ = self.update_or_create(
            owner_id=owner_id,
            text=storable(text.strip(), MEMORY_LIMIT),
            defaults={"importance": importance},
            create_defaults={"importance": importance, "session": session},
        )
        return memory

    def reword(self, text: str, importance: str) -> int:
        words = storable(text.strip(), MEMORY_LIMIT)
        return self.update(text=words, importance=importance, changed_at=timezone.now())


class Memory(models.Model):
    """What is worth knowing in every session of a person."""

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
        position = next_position(self.all(), session)
        return self.create(
            session=session, position=position, title=storable(title, 120), text=storable(text, NOTE_LIMIT)
        )

    def rewrite(self, text: str, *, append: bool = False) -> int:
        """Replaces the text of each note, or puts it below what is there."""
        for note in (notes := list(self)):
            whole = f"{note.text}\n{text}" if append and note.text else text
            note.text, note.changed_at = storable(whole, NOTE_LIMIT), timezone.now()
            note.save(update_fields=["text", "changed_at"])
        return len(notes)


class Note(models.Model):
    """One cell of a session's scratchpad."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="notes")
    position = models.PositiveIntegerField(help_text="Counts from 1; what people and the model call it by.")
    title = models.CharField(max_length=120, blank=True)
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
    """One line of a session's log: what was done or decided, and when."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="log_entries")
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = LogEntryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "log entries"

    def __str__(self) -> str:
        return f"log entry {self.pk}"
