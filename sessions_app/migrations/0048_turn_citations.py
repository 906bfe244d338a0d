"""Keeps what answers rest on with their turns, read from the chunks that are stored.

Turns with the same content are copies of one answer and get the same.
"""

from collections.abc import Iterator
from typing import Any

from django.db import migrations, models


def read_citations(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    chunks, exchanges, turns = (
        apps.get_model("sessions_app", name).objects.using(using) for name in ("RawChunk", "Exchange", "Turn")
    )
    for exchange in exchanges.filter(pk__in=naming(chunks)):
        answers = turns.filter(exchange=exchange.pk, edited=False, summary=False)
        found = citations_of(chunks, exchange)
        for content in set(answers.values_list("content", flat=True)) if found else ():
            turns.filter(content=content, edited=False, summary=False).update(citations=found)


def naming(chunks: Any) -> set[int]:
    """The exchanges whose chunks name a source."""
    from sessions_app.prompt.citations import may_cite

    rows = chunks.order_by("pk").values_list("exchange", "body").iterator()
    return {key for key, body in rows if may_cite(bytes(body))}


def citations_of(chunks: Any, exchange: Any) -> dict[str, Any]:
    """The core's own reading: a copy of it here would be read by nobody else."""
    from sessions_app.prompt.reply import Folder

    folder = Folder(exchange.dialect)
    for hop in reversed(list(hops(exchange))):
        folder.begin_hop()
        for body in chunks.filter(exchange=hop.pk).order_by("seq").values_list("body", flat=True):
            try:
                folder.add(bytes(body))
            except ValueError:
                continue
    return folder.reply().citations.stored()


def hops(exchange: Any) -> Iterator[Any]:
    while exchange is not None:
        yield exchange
        exchange = exchange.continues


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0046_folders"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="citations",
            field=models.JSONField(
                blank=True, default=dict, help_text="What the answer rests on (prompt.citations.Citations)."
            ),
        ),
        migrations.RunPython(read_citations, migrations.RunPython.noop),
    ]
