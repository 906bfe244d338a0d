"""The files of a turn as pages show them: thumbnails, players, names; never their bytes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.template.loader import render_to_string
from django.urls import reverse

from sessions_app.media import is_shown, words_for
from sessions_app.models import Attachment, Session, Turn
from sessions_app.prompt.media import MediaPart, addresses_in, holds_media, media_in
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import raw_parts

Copies = Mapping[str, Attachment]
"""Attachments by the id that turns name them by."""


@dataclass(frozen=True, slots=True)
class ShownFile:
    """`src` gives its bytes, to its owner only; empty when they are not here any more."""

    src: str
    mime: str
    name: str
    size: int | None
    is_made: bool
    """The model made it."""
    is_addressed: bool = False
    kept_until: datetime | None = None
    """When the provider's copy goes; a new one is uploaded when it is needed."""

    @property
    def kind(self) -> str:
        """How it is shown: image, audio, video, or file."""
        family = self.mime.partition("/")[0]
        return family if self.src and is_shown(self.mime) else "file"

    @property
    def title(self) -> str:
        return self.name or words_for(self.mime)

    @property
    def words(self) -> str:
        return words_for(self.mime)


def copies_of(session: Session, wires: Iterable[bytes]) -> Copies:
    """The rows of the files that these contents only name: one query, and none where none does."""
    keys = {key for wire in wires for key in addresses_in(wire)}
    if not keys:
        return {}
    rows = Attachment.objects.filter(session__owner_id=session.owner_id, public__in=keys).defer("blob")
    return {str(row.public): row for row in rows}


def files_of(session: Session, turn: TurnValue, copies: Copies) -> tuple[ShownFile, ...]:
    """The files of one turn, in order."""
    is_made = turn.kind.is_model
    return tuple(
        _shown(reverse("media", args=[session.public, turn.key, part.index]), part, copies, is_made=is_made)
        for part in media_in(raw_parts(turn.wire))
    )


def files_in(turns: Iterable[Turn]) -> Mapping[int, tuple[ShownFile, ...]]:
    """The files of the turns of one session that have any, by primary key. No query where none has."""
    holding = [turn for turn in turns if holds_media(turn.wire)]
    if not holding:
        return {}
    session = holding[0].session
    copies = copies_of(session, [turn.wire for turn in holding])
    return {turn.pk: files_of(session, turn.value, copies) for turn in holding}


def shown_files(session: Session, turn: TurnValue) -> str:
    """The files of one turn as HTML; empty when it has none."""
    return html_of(files_of(session, turn, copies_of(session, [turn.wire])))


def made_files(turn: Turn) -> str:
    """The files that the model made in a turn that has just been stored, as HTML."""
    return shown_files(turn.session, turn.value)


def html_of(files: Sequence[ShownFile]) -> str:
    """The same fragment that the transcript has."""
    return render_to_string("chat/media.html", {"files": files}).strip() if files else ""


def _shown(src: str, part: MediaPart, copies: Copies, *, is_made: bool) -> ShownFile:
    if not part.key:
        return ShownFile(src if part.size is not None else "", part.mime, part.name, part.size, is_made)
    copy = copies.get(part.key)
    if copy is None:
        return ShownFile("", part.mime, part.name, None, is_made, is_addressed=True)
    until = copy.expires_at
    return ShownFile(src, part.mime, part.name, copy.size, is_made, is_addressed=True, kept_until=until)
