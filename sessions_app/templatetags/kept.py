"""Fragments of pages that show nothing but values that never change: rendered once in a process.

A builtin of templates. `{% kept "ribbon.html" ribbon=row.ribbon %}` is `{% include … only %}` for a template
that reads neither the request nor the clock nor the database, and for values hashable by their content.
"""

from collections.abc import Hashable

from django import template
from django.template.loader import render_to_string
from django.urls import get_script_prefix
from django.utils.safestring import SafeString

from sessions_app.models.byte_cache import ByteCache
from sessions_app.templatetags.icons import hashed_sheet

KEPT = 4_000_000
"""Characters of all fragments and of the values that they show."""

register = template.Library()

fragments: ByteCache[tuple[Hashable, ...], SafeString] = ByteCache("fragments", KEPT)


@register.simple_tag
def kept(name: str, **values: Hashable) -> SafeString:
    """The template of that name with these values and no others."""
    key = (name, hashed_sheet(), get_script_prefix(), *values.items())
    found = fragments.find(key)
    if found is None:
        found = render_to_string(name, values)
        # The key holds the values, which are about what the fragment shows.
        fragments.put(key, found, 2 * len(found))
    return found
