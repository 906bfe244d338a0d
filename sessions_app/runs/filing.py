"""Files of messages: how attachments become parts, and how large ones come to the provider."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async
from django.db import transaction
from django.template.defaultfilters import filesizeformat

from sessions_app.errors import FilesAway
from sessions_app.gemini.gateway import Gateway
from sessions_app.media import INLINE_LIMIT
from sessions_app.models import Attachment, Run, Session, Turn
from sessions_app.prompt.media import addressed_part, addresses_in, holds_media, inline_part, readdressed
from sessions_app.prompt.turns import Turn as TurnValue

Tell = Callable[[str], None]


def parts_of(files: Sequence[Attachment], head: int | None) -> list[dict[str, Any]]:
    """The parts of a message's files, in order: inside it as long as there is room, else by address.

    What the branch up to `head` holds inside its turns travels again with every request: one query.
    """
    parts, room = [], INLINE_LIMIT - (_held(head) if files else 0)
    for file in files:
        if file.size <= room:
            parts.append(inline_part(file.blob.bytes, file.mime, file.name))
            room -= file.size
        else:
            parts.append(addressed_part(str(file.public), file.mime, file.name))
    return parts


def _held(head: int | None) -> int:
    """Bytes of the files inside the turns that are sent one by one; base64 is a third larger."""
    turns = Turn.objects.buffered(head).turns
    return sum(len(turn.wire) for turn in turns if holds_media(turn.wire)) * 3 // 4


def hand_over(files: Sequence[Attachment], turn: Turn) -> None:
    """The turn holds them now: what it only names keeps its row, the others have become part of it."""
    named = set(addresses_in(turn.wire))
    stay = [file.pk for file in files if str(file.public) in named]
    Attachment.objects.filter(pk__in=stay).update(turn=turn)
    gone = [file for file in files if file.pk not in stay]
    Attachment.objects.discard(gone, turn.session.owner_id)


def resolve(session: Session, turns: Sequence[TurnValue], route: str) -> tuple[TurnValue, ...]:
    """The turns with the provider's addresses of their files. One query, and none where no turn names one.

    What the person no longer has is replaced by a sentence that says so. Raises FilesAway when the
    provider behind `route` has no copy, or not for long enough.
    """
    wanted = {key for turn in turns for key in addresses_in(turn.wire)}
    if not wanted:
        return tuple(turns)
    files = _own(session, wanted).defer("blob")
    away = [str(file.public) for file in files if not file.is_at(route)]
    if away:
        raise FilesAway(away)
    uris = {str(file.public): file.uri for file in files}
    return tuple(
        replace(turn, wire=readdressed(turn.wire, uris)) if addresses_in(turn.wire) else turn
        for turn in turns
    )


async def bring_files(gateway: Gateway, run: Run, keys: Collection[str], tell: Tell) -> None:
    """Uploads what the next request names, one after the other. Raises GatewayError."""
    for key in keys:
        file, body = await sync_to_async(_read)(run, key)
        why = "The provider's copy has gone. Uploading again:" if file.uri else "Uploading"
        tell(f"{why} {file.name} ({filesizeformat(file.size)})…")
        kept = await gateway.keep_file(body, mime=file.mime, name=file.name)
        await sync_to_async(file.place)(kept.uri, gateway.route, kept.expires)


@transaction.atomic
def _read(run: Run, key: str) -> tuple[Attachment, bytes]:
    file = _own(run.session, {key}).select_related("blob").get()
    return file, file.blob.bytes


def _own(session: Session, keys: Collection[str]) -> Any:
    """A fork and an import name the files of another session of the same person."""
    return Attachment.objects.filter(session__owner_id=session.owner_id, public__in=keys)
