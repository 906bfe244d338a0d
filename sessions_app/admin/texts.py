"""The prompt library: the one thing here that is meant to be edited."""

from django.contrib import admin

from sessions_app.admin.base import ModelAdmin
from sessions_app.models import PromptText


@admin.register(PromptText)
class PromptTextAdmin(ModelAdmin):
    list_display = ("name", "kind", "summary", "updated_at")
    list_filter = ("kind",)
    search_fields = ("name", "summary")
    fields = (("kind", "name"), "summary", "body", "updated_at")
    readonly_fields = ("updated_at",)
    show_full_result_count = False
