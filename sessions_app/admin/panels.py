"""What panels stand on: the commands an admin allows, and how much people keep, without the words."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest

from sessions_app.admin.base import ChoiceFilter, ModelAdmin, RecordAdmin
from sessions_app.models import AllowedCommand, Memory, PanelState, Reading


@admin.register(AllowedCommand)
class AllowedCommandAdmin(ModelAdmin):
    """Meant to be edited. A command runs in the folder of whoever switches the console panel on."""

    list_display = ("name", "words", "every", "timeout", "enabled")
    list_filter = ("enabled",)
    search_fields = ("name",)
    fields = ("name", "argv", ("every", "timeout"), "enabled")
    show_full_result_count = False

    @admin.display(description="command")
    def words(self, command: AllowedCommand) -> str:
        return " ".join(command.argv) if command.is_runnable else "cannot be run"


class SizedAdmin(RecordAdmin):
    """Rows whose text is a person's own: its length is shown, the text is not even read."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).defer("text").annotate(size=Length("text"))
        return rows

    @admin.display(description="characters", ordering="size")
    def characters(self, row: Any) -> int:
        return int(row.size)


class ImportanceFilter(ChoiceFilter):
    title = "importance"
    parameter_name = "importance"
    words = tuple(Memory.Importance.values)


@admin.register(Memory)
class MemoryAdmin(SizedAdmin):
    list_display = ("pk", "owner", "importance", "characters", "created_at", "changed_at")
    list_filter = (ImportanceFilter,)
    list_select_related = ("owner",)
    search_fields = ("owner__username",)
    search_help_text = "Owner"
    fields = (("owner", "session"), "importance", "characters", ("created_at", "changed_at"))


@admin.register(Reading)
class ReadingAdmin(SizedAdmin):
    list_display = ("key", "session", "failed", "characters", "read_at")
    list_filter = ("failed",)
    list_select_related = ("session",)
    search_fields = ("key", "session__public")
    search_help_text = "Panel, command or session id"
    fields = (("session", "key"), "failed", "characters", "read_at")


@admin.register(PanelState)
class PanelStateAdmin(RecordAdmin):
    list_display = ("key", "session", "tokens", "page", "changed_at")
    list_select_related = ("session",)
    search_fields = ("key", "session__public")
    search_help_text = "Panel or session id"
    fields = (("session", "key"), ("tokens", "page"), "sha256", "changed_at")
