"""The icons of the pages, symbols of one sheet. A builtin of templates: a page has dozens of them."""

from functools import cache

from django import template
from django.contrib.staticfiles.storage import staticfiles_storage
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

SHEET = "icons.svg"
ICON = '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>'


@register.simple_tag
def icon(name: str) -> SafeString:
    """The symbol of that name; hidden from screen readers."""
    return _icon(name, hashed_sheet())


def hashed_sheet() -> str | None:
    """Its name since the files were collected: with it the address changes."""
    hashed: dict[str, str] = getattr(staticfiles_storage, "hashed_files", {})
    return hashed.get(SHEET)


@cache
def _icon(name: str, hashed: str | None) -> SafeString:
    return format_html(ICON, staticfiles_storage.url(SHEET), name)
