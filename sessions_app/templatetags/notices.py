"""What a notice carries beyond its words."""

from typing import NamedTuple

from django import template
from django.contrib.messages.storage.base import Message

register = template.Library()


class Undo(NamedTuple):
    act: str
    sessions: list[str]


@register.filter
def undo(message: Message) -> Undo | None:
    """How to take back what the notice tells of (written by chat.acts); None when it cannot be."""
    mark, *rest = (message.extra_tags or "").split() or [""]
    return Undo(rest[0], rest[1:]) if mark == "undo" and rest else None
