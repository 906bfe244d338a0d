"""The audit log: who did what, read-only."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from sessions_app.admin.base import RecordAdmin
from sessions_app.admin.filters import ChoiceFilter
from sessions_app.admin.labels import words_of
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from sessions_app.wording import audit_log

NAMES = {
    str(model._meta.model_name): str(model._meta.verbose_name)
    for model in (*apps.get_models(), *apps.get_app_config("sessions_app").get_models())
}
"""What an entry is about, by the stored name of its model; ours where two apps have the name."""


class ActionFilter(ChoiceFilter):
    title = "action"
    parameter_name = "action"
    labels = {code.value: audit_log.title(code) for code in LoggedAction}


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordAdmin):
    """Reasons that staff typed to read content stand here; nothing that a session holds does."""

    list_display = ("at", "who", "what", "subject", "key", "person_key", "details")
    list_filter = (ActionFilter, "at")
    ordering = ("-pk",)
    search_fields = ("=actor", "=key", "=person_key")
    search_help_text = "Name of who did it, id of what it was done to, or key of the person concerned"
    fields = (
        ("at", "what"),
        ("who", "actor_key", "address"),
        ("subject", "key", "person_key"),
        "details",
        "emptied_at",
    )
    readonly_fields = ("who", "what", "subject", "details")

    @admin.display(description="who")
    def who(self, entry: AuditEntry) -> str:
        return audit_log.actor(entry.actor, entry.actor_key, entry.action)

    @words_of("action", description="what")
    def what(self, entry: AuditEntry) -> str:
        return audit_log.title(entry.action)

    @words_of("kind", description="kind")
    def subject(self, entry: AuditEntry) -> str:
        return NAMES.get(entry.kind, entry.kind) or "–"

    @admin.display(description="old → new, reason")
    def details(self, entry: AuditEntry) -> str:
        return audit_log.details(entry.figures) or "–"

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.has_perm("sessions_app.view_auditentry"))

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {}
