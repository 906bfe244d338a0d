"""Turns: the shape of a history, never its text."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from sessions_app.admin.base import RecordAdmin, short
from sessions_app.models import Turn


@admin.register(Turn)
class TurnAdmin(RecordAdmin):
    list_display = ("label", "kind", "in_session", "depth", "size", "cut", "exchange", "created_at")
    list_filter = ("kind", "cut", "created_at")
    ordering = ("-pk",)
    date_hierarchy = "created_at"
    search_fields = ("public", "session__public", "session__owner__username")
    search_help_text = "Owner, turn id or session id"
    fields = (
        ("public", "kind"),
        ("session", "run", "exchange"),
        ("parent", "depth"),
        "size",
        "route",
        "cut",
        "created_at",
    )
    readonly_fields = ("size",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        bodies = (
            "content__body",
            "exchange__manifest",
            "exchange__notes",
            "session__title",
            "session__background",
        )
        return (
            super()
            .get_queryset(request)
            .select_related("session", "exchange", "content")
            .defer("text", *bodies)
        )

    @admin.display(ordering="public", description="turn")
    def label(self, turn: Turn) -> str:
        return short(turn.public)

    @admin.display(ordering="session__public", description="session")
    def in_session(self, turn: Turn) -> str:
        return short(turn.session.public)

    @admin.display(ordering="content__size", description="bytes")
    def size(self, turn: Turn) -> int:
        return turn.content.size
