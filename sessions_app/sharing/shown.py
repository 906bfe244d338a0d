"""A snapshot as HTML: the same for its preview and under its link."""

from collections.abc import Sequence
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from sessions_app.chat.turn_files import ShownFile
from sessions_app.markup import render
from sessions_app.sharing.snapshot import File, Message, Snapshot, Step

KEPT = 16
"""Rendered snapshots in memory: rendering a long one takes a second."""


def shown(snapshot: Snapshot, addresses: Sequence[str]) -> SafeString:
    """`addresses`: URL of each shared file, by number."""
    messages = [_message(message, addresses) for message in snapshot.messages]
    return render_to_string("sharing/snapshot.html", {"messages": messages})


@lru_cache(maxsize=KEPT)
def shown_copy(stored: bytes, addresses: tuple[str, ...]) -> SafeString:
    return shown(Snapshot.model_validate_json(stored), addresses)


def _message(message: Message, addresses: Sequence[str]) -> dict[str, object]:
    return {
        "said": message,
        "files": _files(message.files, addresses),
        "steps": [_step(step, addresses) for step in message.steps],
    }


def _step(step: Step, addresses: Sequence[str]) -> dict[str, object]:
    return {
        "made": step,
        "thoughts": _html(step.thoughts),
        "text": _html(step.text),
        "files": _files(step.files, addresses),
    }


def _files(files: Sequence[File], addresses: Sequence[str]) -> list[ShownFile]:
    return [ShownFile(addresses[one.number], one.mime, one.name, one.size, one.is_made) for one in files]


def _html(text: str) -> SafeString:
    return mark_safe(render(text)) if text else SafeString()  # noqa: S308 - render is the sanitiser
