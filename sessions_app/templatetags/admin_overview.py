"""The overview, for the template of the admin's first page."""

from typing import Any

from django import template

from sessions_app.admin.overview import overview

register = template.Library()


@register.simple_tag(takes_context=True)
def read_overview(context: template.Context) -> dict[str, Any]:
    return overview(context["request"])
