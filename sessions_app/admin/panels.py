"""Rows of panels: allowed commands, and the sizes of memories and readings."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest

from sessions_app.admin.base import FilteredAdmin, RecordAdmin
from sessions_app.admin.filters import ChoiceFilter
from sessions_app.admin.labels import words_of
from sessions_app.models import AllowedCommand, Memory, PanelState, Reading
from sessions_app.panels import kind_named


@admin.register(AllowedCommand)
class AllowedCommandAdmin(FilteredAdmin):
    """Editable. A command runs in the workspace of whoever turns the console panel on."""

    list_display = ("name", "command_line", "every", "timeout", "enabled")
    list_filter = ("enabled",)
    search_fields = ("name",)
    fields = ("name", "argv", ("every", "timeout"), "enabled")
    show_full_result_count = False

    @admin.display(description="command")
    def command_line(self, command: AllowedCommand) -> str:
        return " ".join(command.argv) if command.is_runnable else "cannot be run"


class TextLengthAdmin(RecordAdmin):
    """Rows with a person's text: its length is shown, and the text is not read from the database."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).defer("text").annotate(size=Length("text"))
        return rows

    @admin.display(description="characters", ordering="size")
    def characters(self, row: Any) -> int:
        return int(row.size)


class OfPanelAdmin(RecordAdmin):
    @words_of("key", description="panel")
    def panel(self, row: PanelState | Reading) -> str:
        """Its title; the key of a panel that is not here, and of what a command printed."""
        kind = kind_named(row.key)
        return kind.title if kind else row.key


class ImportanceFilter(ChoiceFilter):
    title = "importance"
    parameter_name = "importance"
    labels = {str(value): str(label) for value, label in Memory.Importance.choices}


@admin.register(Memory)
class MemoryAdmin(TextLengthAdmin):
    list_display = ("pk", "owner", "importance", "characters", "created_at", "changed_at")
    list_filter = (ImportanceFilter,)
    list_select_related = ("owner",)
    search_fields = ("owner__username",)
    search_help_text = "Owner"
    fields = (("owner", "session"), "importance", "characters", ("created_at", "changed_at"))


@admin.register(Reading)
class ReadingAdmin(OfPanelAdmin, TextLengthAdmin):
    list_display = ("panel", "session", "failed", "characters", "read_at")
    list_filter = ("failed",)
    list_select_related = ("session",)
    search_fields = ("key", "session__public")
    search_help_text = "Panel, command or session id"
    fields = (("session", "panel"), "failed", "characters", "read_at")
    readonly_fields = ("panel", "characters")


@admin.register(PanelState)
class PanelStateAdmin(OfPanelAdmin):
    list_display = ("panel", "session", "tokens", "page", "changed_at")
    list_select_related = ("session",)
    search_fields = ("key", "session__public")
    search_help_text = "Panel or session id"
    fields = (("session", "panel"), ("tokens", "page"), "sha256", "changed_at")
    readonly_fields = ("panel",)
