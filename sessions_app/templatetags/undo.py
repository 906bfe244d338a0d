"""The undo action of a message."""

from typing import NamedTuple

from django import template
from django.contrib.messages.storage.base import Message

register = template.Library()


class Undo(NamedTuple):
    action: str
    sessions: list[str]


@register.filter
def undo(message: Message) -> Undo | None:
    """The action that undoes the one reported (tags by `chat.session_list`), if any."""
    mark, *rest = (message.extra_tags or "").split() or [""]
    return Undo(rest[0], rest[1:]) if mark == "undo" and rest else None
