"""A snapshot as HTML: the same for its preview and under its link."""

from collections.abc import Sequence
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from sessions_app.chat.citations import ShownCitations, marks_of
from sessions_app.chat.steps import thoughts_label
from sessions_app.chat.turn_files import ShownFile
from sessions_app.markup import Mark, render
from sessions_app.sharing.snapshot import File, Message, Snapshot, Step

KEPT = 16
"""Rendered snapshots in memory: rendering a long one takes a second."""


def shown(snapshot: Snapshot, addresses: Sequence[str]) -> SafeString:
    """`addresses`: URL of each shared file, by number."""
    messages = [
        _message(message, addresses, f"m{number}-") for number, message in enumerate(snapshot.messages, 1)
    ]
    return render_to_string("sharing/snapshot.html", {"messages": messages})


@lru_cache(maxsize=KEPT)
def shown_copy(stored: bytes, addresses: tuple[str, ...]) -> SafeString:
    return shown(Snapshot.model_validate_json(stored), addresses)


def _message(message: Message, addresses: Sequence[str], scope: str) -> dict[str, object]:
    """`scope` begins the ids in it."""
    steps = enumerate(message.steps, 1)
    return {
        "said": message,
        "files": _files(message.files, addresses),
        "steps": [_step(step, addresses, f"{scope}{number}-") for number, step in steps],
    }


def _step(step: Step, addresses: Sequence[str], scope: str) -> dict[str, object]:
    return {
        "made": step,
        "thoughts": _html(step.thoughts, f"{scope}thought-"),
        "thoughts_label": thoughts_label(step.thought_ms),
        "text": _html(step.text, scope, marks_of(step.citations)),
        "cited": ShownCitations.of(step.citations, scope),
        "files": _files(step.files, addresses),
    }


def _files(files: Sequence[File], addresses: Sequence[str]) -> list[ShownFile]:
    return [ShownFile(addresses[one.number], one.mime, one.name, one.size, one.is_made) for one in files]


def _html(text: str, scope: str, marks: Sequence[Mark] = ()) -> SafeString:
    return mark_safe(render(text, scope, marks) if text else "")  # noqa: S308 - render is the sanitiser
