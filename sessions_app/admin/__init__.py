"""The admin site: metadata of rows, never what people wrote or the model answered.

Session titles are content too, since they are made from messages.
"""

from django.conf import settings
from django.contrib import admin

from sessions_app.admin import (
    allowances,
    audit_log,
    caches,
    exchanges,
    exports,
    limits,
    mcp_servers,
    model_facts,
    panels,
    prompts,
    retention,
    runs,
    sessions,
    shared_links,
    users,
)

__all__ = [
    "allowances",
    "audit_log",
    "caches",
    "exchanges",
    "exports",
    "limits",
    "mcp_servers",
    "model_facts",
    "panels",
    "prompts",
    "retention",
    "runs",
    "sessions",
    "shared_links",
    "users",
]

admin.site.site_header = "Pipeweb admin"
admin.site.site_title = "Pipeweb admin"
admin.site.index_title = "Rows, not content"
admin.site.add_action(exports.EXPORT)

if settings.PIPEWEB_ACCOUNTS == "team":
    from sessions_app.admin import team_users  # noqa: F401
