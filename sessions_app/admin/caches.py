"""Cache entries: what we hold at the provider, and what it refused."""

from django.contrib import admin

from sessions_app.admin.base import RecordAdmin
from sessions_app.models import CacheEntry


@admin.register(CacheEntry)
class CacheEntryAdmin(RecordAdmin):
    list_display = ("short_print", "name", "model", "state", "tokens", "hits", "expires_at", "changed_at")
    list_filter = ("state", "expires_at")
    date_hierarchy = "created_at"
    search_fields = ("fingerprint", "name", "model")
    search_help_text = "Fingerprint, name at the provider or model"
    fields = (
        "fingerprint",
        ("name", "model", "route"),
        ("state", "reason"),
        ("tokens", "hits"),
        ("created_at", "changed_at", "expires_at"),
    )

    @admin.display(ordering="fingerprint", description="fingerprint")
    def short_print(self, entry: CacheEntry) -> str:
        return entry.fingerprint[:12]
