"""Template filters for the wording of codes and values."""

from typing import Any

from django import template

from sessions_app.body_limits import FILE_LIMITS
from sessions_app.media import COUNT_LIMIT, DOCUMENT_LIMIT, WORD_TYPE
from sessions_app.models import CacheEntry
from sessions_app.wording import budgets, cache_plans, costs, remarks, uploads
from sessions_app.workspace import UPLOAD_LIMIT

register = template.Library()
register.filter("equation", costs.equation)
register.filter("budget_name", budgets.name)
register.filter("budget_spent", budgets.spent)
register.filter("budget_percent", budgets.percent)
register.filter("budget_left", budgets.left)
register.filter("budget_state", budgets.state)
register.filter("budget_remedy", budgets.remedy)
register.filter("failure_reason", remarks.failure_reason)
register.filter("how_often", remarks.how_often)


@register.filter
def entry_reason(entry: CacheEntry) -> str:
    return cache_plans.entry_reason(entry.reason, entry.said)


@register.inclusion_tag("chat/file_limits.html")
def file_limits() -> dict[str, Any]:
    """The limits of files, and what a page says when it refuses one."""
    texts = {**uploads.FILES, **{f"hint {kind}": hint for kind, hint in uploads.HINTS.items()}}
    return {
        "limits": FILE_LIMITS,
        "text_limit": UPLOAD_LIMIT,
        "word_limit": DOCUMENT_LIMIT,
        "word_type": WORD_TYPE,
        "count_limit": COUNT_LIMIT,
        "texts": texts,
    }
