"""Shared links: whose they are and until when, and revoking them. Neither their content nor their address."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest

from sessions_app.admin.base import SessionPartAdmin, short
from sessions_app.admin.sessions import Deleted
from sessions_app.models import SharedLink


@admin.register(SharedLink)
class SharedLinkAdmin(SessionPartAdmin):
    list_display = ("label", "owner", "in_session", "has_details", "file_count", "created_at", "expires_at")
    list_filter = ("has_details", "created_at", "expires_at")
    list_select_related = ("session__owner",)
    date_hierarchy = "created_at"
    search_fields = ("public", "session__public", "session__owner__username")
    search_help_text = "Owner, link id or session id"
    fields = (("public", "owner"), "session", ("has_details", "file_count"), ("created_at", "expires_at"))
    readonly_fields = ("owner", "file_count")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("sessions_app.delete_sharedlink")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SharedLink]:
        rows: QuerySet[SharedLink] = super().get_queryset(request)
        return rows.defer("token").annotate(files_shared=Count("files"))

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        if "delete_selected" in actions:
            actions["delete_selected"] = (*actions["delete_selected"][:2], "Revoke selected links")
        return actions

    @admin.display(ordering="public", description="link")
    def label(self, link: SharedLink) -> str:
        return short(link.public)

    @admin.display(ordering="session__owner__username")
    def owner(self, link: SharedLink) -> str:
        return link.session.owner.get_username()

    @admin.display(ordering="files_shared", description="files")
    def file_count(self, link: Any) -> int:
        return int(link.files_shared)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Deleted:
        links = list(objs)
        return [f"Link {link.public}" for link in links], {"shared links": len(links)}, set(), []

    def delete_model(self, request: HttpRequest, obj: SharedLink) -> None:
        SharedLink.objects.filter(pk=obj.pk).revoke()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[SharedLink]) -> None:
        SharedLink.objects.filter(pk__in=queryset.values("pk")).revoke()
