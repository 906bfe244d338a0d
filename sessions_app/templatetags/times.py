"""Times as people say them."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.timesince import timesince

register = template.Library()

MOMENT = timedelta(minutes=1)


@register.filter
def ago(moment: datetime) -> str:
    """`just now`, `5 minutes ago`."""
    if timezone.now() - moment < MOMENT:
        return "just now"
    return f"{timesince(moment, depth=1)} ago"
