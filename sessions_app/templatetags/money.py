"""Sums of money as template filters."""

from django import template

from sessions_app.prompt.pricing import dollars

register = template.Library()
register.filter("dollars", dollars)
