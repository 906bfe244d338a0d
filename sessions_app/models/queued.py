"""Messages that people sent while the model was answering."""

from django.db import models


class QueuedMessage(models.Model):
    """Waits for the active run to end; answered once, oldest first, or withdrawn."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="queue")
    client_id = models.UUIDField(help_text="Becomes the client id of the run: sending twice queues once.")
    text = models.TextField()
    files = models.PositiveSmallIntegerField(default=0, help_text="Attachments that go with it.")
    queued_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "client_id"], name="queued_once_per_client_id")
        ]

    def __str__(self) -> str:
        return str(self.client_id)
