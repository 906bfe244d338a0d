"""The inspector's figures as template filters."""

from django import template

from sessions_app.inspector import figures
from sessions_app.prompt.pricing import dollars

register = template.Library()
register.filter("thousands", figures.thousands)
register.filter("size", figures.size)
register.filter("duration", figures.duration)
register.filter("share", figures.share)
register.filter("dollars", dollars)
