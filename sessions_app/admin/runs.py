"""Runs: what is going on now, and what got stuck."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import ngettext

from sessions_app.admin.base import ChoiceFilter, RecordAdmin, short
from sessions_app.models import Run
from sessions_app.models.run import RunQuerySet
from sessions_app.prompt.outcomes import Outcome
from sessions_app.runs.recovery import GONE
from sessions_app.runs.settle import close


class OutcomeFilter(ChoiceFilter):
    title = "outcome"
    parameter_name = "outcome"
    words = tuple(Outcome)


@admin.register(Run)
class RunAdmin(RecordAdmin):
    list_display = (
        "label",
        "status",
        "outcome",
        "in_session",
        "owner",
        "failed_with",
        "started_at",
        "ended_at",
    )
    list_filter = ("status", OutcomeFilter, "started_at")
    ordering = ("-pk",)
    date_hierarchy = "started_at"
    search_fields = ("public", "session__public", "session__owner__username", "session__model")
    fields = (
        ("public", "client_id"),
        ("session", "owner"),
        ("status", "outcome"),
        ("failed_with", "code"),
        ("started_at", "heartbeat_at", "ended_at"),
    )
    readonly_fields = ("owner", "failed_with", "code")
    actions = ("interrupt",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return (
            super()
            .get_queryset(request)
            .select_related("session__owner")
            .defer("session__title", "session__background")
        )

    def has_interrupt_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("sessions_app.change_run")

    @admin.display(ordering="public", description="run")
    def label(self, run: Run) -> str:
        return short(run.public)

    @admin.display(ordering="session__public", description="session")
    def in_session(self, run: Run) -> str:
        return short(run.session.public)

    @admin.display(ordering="session__owner__username")
    def owner(self, run: Run) -> str:
        return run.session.owner.get_username()

    @admin.display(description="error")
    def failed_with(self, run: Run) -> str:
        # The provider's message may quote what was sent; its kind and code do not.
        return str(run.error.get("kind", "–"))

    @admin.display
    def code(self, run: Run) -> str:
        return str(run.error.get("code") or "–")

    @admin.action(description="Mark stuck runs interrupted", permissions=["interrupt"])
    def interrupt(self, request: HttpRequest, queryset: RunQuerySet) -> None:
        """Ends those of the chosen runs whose process is gone; a live run is left alone."""
        stuck = list(queryset.abandoned().values_list("pk", flat=True))
        ended = sum(close(pk, Run.Status.INTERRUPTED, error=GONE) is not None for pk in stuck)
        words = ngettext(
            "%d stuck run was marked interrupted.", "%d stuck runs were marked interrupted.", ended
        )
        self.message_user(request, words % ended, messages.SUCCESS if ended else messages.INFO)
