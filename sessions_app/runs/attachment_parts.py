"""Attachments of messages: their parts, and the upload of large files to the provider."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import replace

from django.template.defaultfilters import filesizeformat

from sessions_app.database import database_sync_to_async
from sessions_app.errors import FilesNotUploaded
from sessions_app.gemini.gateway import Gateway
from sessions_app.media import INLINE_LIMIT
from sessions_app.models import Attachment, BlobSlice, Run, Session, Turn
from sessions_app.prompt.media import inline_part, reference_part, referenced_keys, with_provider_uris
from sessions_app.prompt.parts import RawPart, holds_media
from sessions_app.prompt.turns import Turn as TurnValue

ReportStatus = Callable[[str], None]


def parts_of(files: Sequence[Attachment], head: int | None) -> list[RawPart]:
    """One part per file: inline while the request has room, else by file URI.

    Inline files of the branch up to `head` are sent again with every request: one query.
    """
    parts, free = [], INLINE_LIMIT - (_inline_bytes(head) if files else 0)
    for file in files:
        if file.size <= free:
            parts.append(inline_part(file.blob.bytes, file.mime, file.name))
            free -= file.size
        else:
            parts.append(reference_part(str(file.public), file.mime, file.name))
    return parts


def _inline_bytes(head: int | None) -> int:
    """Bytes of inline files in the buffered turns; base64 is a third larger."""
    turns = Turn.objects.buffered(head).turns
    return sum(len(turn.wire) for turn in turns if holds_media(turn.wire)) * 3 // 4


def claim_attachments(files: Sequence[Attachment], turn: Turn) -> None:
    """Ties files sent by URI to the turn and deletes the rows of inline ones, which are part of it now."""
    named = set(referenced_keys(turn.wire))
    stay = [file.pk for file in files if str(file.public) in named]
    Attachment.objects.filter(pk__in=stay).update(turn=turn)
    gone = [file for file in files if file.pk not in stay]
    Attachment.objects.discard(gone, turn.session.owner_id)


def resolve_files(session: Session, turns: Sequence[TurnValue], route: str) -> tuple[TurnValue, ...]:
    """The turns with the provider's file URIs filled in: one query when a turn names a file.

    A deleted file becomes a text part. Raises FilesNotUploaded when the provider behind `route` has no
    copy, or one that expires too soon.
    """
    wanted = {key for keys in referenced_keys.of_all([turn.wire for turn in turns]) for key in keys}
    if not wanted:
        return tuple(turns)
    files = Attachment.objects.named_in(session, wanted).defer("blob")
    away = [str(file.public) for file in files if not file.has_copy_at(route)]
    if away:
        raise FilesNotUploaded(away)
    uris = {str(file.public): file.uri for file in files}
    return tuple(
        replace(turn, wire=with_provider_uris(turn.wire, uris)) if referenced_keys(turn.wire) else turn
        for turn in turns
    )


async def upload_files(gateway: Gateway, run: Run, keys: Collection[str], report: ReportStatus) -> None:
    """Uploads the files one by one. Raises GatewayError."""
    for key in keys:
        file = await database_sync_to_async(_file_of)(run, key)
        why = "The provider's copy has gone. Uploading again:" if file.uri else "Uploading"
        report(f"{why} {file.name} ({filesizeformat(file.size)})…")
        body = b"".join([piece async for piece in _pieces_of(file)])
        kept = await gateway.upload_file(body, mime=file.mime, name=file.name)
        await database_sync_to_async(file.set_copy)(kept.uri, gateway.route, kept.expires)


def _file_of(run: Run, key: str) -> Attachment:
    return Attachment.objects.named_in(run.session, {key}).select_related("blob").get()


async def _pieces_of(file: Attachment) -> AsyncIterator[bytes]:
    """The bytes, a slice at a time: runs share one database thread."""
    if not file.blob.is_sliced:
        yield file.blob.bytes
        return
    slices = BlobSlice.objects.filter(blob_id=file.blob_id)
    for number in await database_sync_to_async(list)(slices.values_list("number", flat=True)):
        piece = await database_sync_to_async(slices.get)(number=number)
        yield bytes(piece.body)
