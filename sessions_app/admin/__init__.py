"""The admin site: metadata of rows, never what people wrote or the model answered.

Session titles are content too, since they are made from messages.
"""

from django.contrib import admin

from sessions_app.admin import (
    allowances,
    audit_log,
    caches,
    limits,
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
    "limits",
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
