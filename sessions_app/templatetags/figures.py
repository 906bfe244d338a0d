"""Template filters for numbers, sums of money and times, and the limit of a message."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.timesince import timesince

from sessions_app.inspector import formatting
from sessions_app.prompt.pricing import dollars
from sessions_app.socket_commands import MESSAGE_LIMIT

register = template.Library()
register.filter("thousands", formatting.thousands)
register.filter("size", formatting.size)
register.filter("duration", formatting.duration)
register.filter("share", formatting.share)
register.filter("dollars", dollars)


@register.filter
def ago(moment: datetime) -> str:
    """`just now`, `5 minutes ago`."""
    if timezone.now() - moment < timedelta(minutes=1):
        return "just now"
    return f"{timesince(moment, depth=1)} ago"


@register.filter(expects_localtime=True)
def minute(moment: datetime) -> str:
    """`2026-11-23 18:04 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M %Z}"


@register.simple_tag
def message_limit() -> int:
    """Characters of one message."""
    return MESSAGE_LIMIT
