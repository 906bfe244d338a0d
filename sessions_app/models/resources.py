"""What the panels of the dynamic layer are made of: todos, references, artifacts."""

from django.db import models
from django.utils import timezone


class Todo(models.Model):
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="todos")
    position = models.PositiveIntegerField(help_text="Counts from 1; what people and the model call it by.")
    title = models.CharField(max_length=300)
    done = models.BooleanField(default=False)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["session", "position"], name="todo_position_once")]

    def __str__(self) -> str:
        return f"{self.position}. {self.title}"


class Reference(models.Model):
    """A file of the workspace whose content the model sees."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="references")
    path = models.CharField(max_length=400)
    enabled = models.BooleanField(default=True)
    added_at = models.DateTimeField(default=timezone.now)

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
