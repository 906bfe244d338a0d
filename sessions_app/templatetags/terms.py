"""Words of a prompt's anatomy with their explanations."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions_app.wording.terms import EXPLANATIONS, explanation

register = template.Library()
register.filter("term_explained", explanation)

BUTTON = '<button type="button" class="term" popovertarget="term-{}">{}</button>'


@register.simple_tag
def term(key: str, written: str) -> SafeString:
    """A word that opens its explanation; the page has `term_cards`."""
    return format_html(BUTTON, key, written)


@register.inclusion_tag("term_cards.html")
def term_cards() -> dict[str, Any]:
    """The explanations, once on a page."""
    return {"explanations": EXPLANATIONS}


@register.inclusion_tag("term_list.html")
def term_list() -> dict[str, Any]:
    """All explanations, folded, below sentences that use the words."""
    return {"explanations": EXPLANATIONS}
