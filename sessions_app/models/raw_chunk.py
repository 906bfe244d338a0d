"""The chunks of a response, exactly as they arrived."""

from collections.abc import Iterable

from django.db import connections, models

from sessions_app.models.execution import append


class RawChunkQuerySet(models.QuerySet["RawChunk"]):
    def append(self, chunks: Iterable[tuple[int, int, float, bytes]]) -> None:
        """Inserts (exchange key, seq, ms, body) rows; existing ones are kept.

        Plain SQL: creating model instances costs more than the rest of the relay.
        """
        append(connections[self.db], "sessions_app_rawchunk", COLUMNS, list(chunks))


COLUMNS = ("exchange_id", "seq", "ms", "body")


class RawChunk(models.Model):
    """One streamed event exactly as it arrived."""

    exchange = models.ForeignKey("Exchange", on_delete=models.CASCADE, related_name="chunks", db_index=False)
    seq = models.PositiveIntegerField()
    ms = models.FloatField(help_text="Milliseconds since the request was sent.")
    body = models.BinaryField()

    objects = RawChunkQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["exchange", "seq"], name="chunk_once")]

    def __str__(self) -> str:
        return f"chunk {self.seq}"
