"""One event of a streamed response, kept as it arrived."""

from collections.abc import Iterable

from django.db import connections, models


class RawChunkQuerySet(models.QuerySet["RawChunk"]):
    def append(self, chunks: Iterable[tuple[int, int, float, bytes]]) -> None:
        """Adds (exchange key, seq, ms, body) rows; one that is there already stays as it is.

        Plain SQL: a model instance per chunk would cost more than the rest of the relay together.
        """
        with connections[self.db].cursor() as cursor:
            cursor.executemany(APPEND, list(chunks))


APPEND = (
    "INSERT INTO sessions_app_rawchunk (exchange_id, seq, ms, body) "
    "VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
)


class RawChunk(models.Model):
    """One streamed event exactly as it arrived; evidence, never edited."""

    exchange = models.ForeignKey("Exchange", on_delete=models.CASCADE, related_name="chunks")
    seq = models.PositiveIntegerField()
    ms = models.FloatField(help_text="Milliseconds since the request was sent.")
    body = models.BinaryField()

    objects = RawChunkQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["exchange", "seq"], name="chunk_once")]

    def __str__(self) -> str:
        return f"chunk {self.seq}"
