"""Runs: their states, times and errors, never content; stopping them, and ending those that are stuck."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from sessions_app.admin.base import (
    SessionPartAdmin,
    add_history,
)
from sessions_app.admin.confirmed import confirmed_action, update_rows
from sessions_app.admin.content_access import ContentLinks
from sessions_app.admin.exchanges import OutcomeFilter, ending_of, outcome_of
from sessions_app.admin.filters import ErrorFilter, OwnerFilter
from sessions_app.admin.labels import words_of
from sessions_app.log_codes import LoggedAction
from sessions_app.models import Exchange, Run, Session
from sessions_app.models.audit_entry import record
from sessions_app.models.origin import Origin
from sessions_app.runs.processes import PROCESS_DIED
from sessions_app.runs.run_end import end_run

EXCHANGES = 50
"""The most exchanges of a run to which its page links."""


def stop_runs(runs: QuerySet[Run]) -> list[int]:
    """Asks the processes of active runs of chats to stop them."""
    chats = Session.objects.filter(origin=Origin.CHAT)
    return update_rows(runs.filter(status__in=Run.ACTIVE, session__in=chats), stop_requested=True)


def interrupt(runs: Any) -> list[int]:
    """Ends the runs whose process has died, and leaves others alone."""
    stuck = list(runs.abandoned().values_list("pk", flat=True))
    return [pk for pk in stuck if end_run(pk, Run.Status.INTERRUPTED, error=PROCESS_DIED) is not None]


@admin.register(Run)
class RunAdmin(ContentLinks, SessionPartAdmin):
    is_long = True
    list_display = (
        "label",
        "status",
        "end",
        "in_session",
        "owner",
        "failed_with",
        "started_at",
        "ended_at",
    )
    list_filter = ("status", OutcomeFilter, ErrorFilter, OwnerFilter, "started_at")
    ordering = ("-pk",)
    search_fields = ("public", "session__public", "session__owner__username")
    search_help_text = "Owner, or the beginning of the id of a run or a session"
    fields = (
        ("public", "client_id"),
        ("session", "owner"),
        ("status", "end"),
        ("failed_with", "code"),
        "exchange_links",
        ("started_at", "heartbeat_at", "ended_at"),
    )
    readonly_fields = ("end", "owner", "failed_with", "code", "exchange_links")
    actions = (
        confirmed_action(
            "interrupt",
            "Mark stuck runs interrupted",
            "Runs whose process has died end, and their chats go on. Others stay as they are.",
            interrupt,
            "interrupt",
        ),
        confirmed_action(
            "stop_runs",
            "Stop selected runs",
            "What has arrived of their answers is kept. Runs of other programs, and those that have ended, "
            "stay as they are.",
            stop_runs,
            "interrupt",
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        numbers = Exchange.objects.filter(run=OuterRef("pk")).values("number")
        rows: QuerySet[Run] = super().get_queryset(request).select_related("session__owner")
        return rows.defer("session__title", "session__background").annotate(
            first=Subquery(numbers.order_by("number")[:1]), last=Subquery(numbers.order_by("-number")[:1])
        )

    def get_urls(self) -> list[URLPattern]:
        stop = path("<int:pk>/stop/", self.admin_site.admin_view(self.stop), name="stop-run")
        return [stop, *super().get_urls()]

    def stop(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Asks the process of a chat's run to stop it; what arrived is kept. From the overview."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_interrupt_permission(request):
            raise PermissionDenied
        if stop_runs(Run.objects.filter(pk=pk)):
            add_history(request, Run.objects.filter(pk=pk).defer("stages", "error"), "Asked to stop.")
            record(LoggedAction.ADMIN_ACTION, request.user, Run, name="stop_run", count=1)
            self.message_user(request, "The run is being stopped.", messages.SUCCESS)
        else:
            self.message_user(request, "That run has ended.", messages.INFO)
        return redirect("admin:index")

    def has_interrupt_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("sessions_app.change_run")

    @admin.display(ordering="pk", description="run")
    def label(self, run: Run) -> str:
        """The run by the numbers of its requests, as the inspector's pages name them."""
        first, last = getattr(run, "first", None), getattr(run, "last", None)
        if first is None:
            return "nothing was sent"
        return f"exchange {first}" if first == last else f"exchanges {first}–{last}"

    def content_path(self, row: Run) -> str:
        """Its last request, else the page of a run whose request was refused."""
        last = getattr(row, "last", None)
        if last is not None:
            return reverse("exchange", args=[row.session.public, last])
        if row.error:
            return reverse("refused-run", args=[row.session.public, row.public])
        return row.session.get_absolute_url()

    @admin.display(description="exchanges")
    def exchange_links(self, run: Run) -> SafeString | str:
        """Each with how it ended; its page has the error, and the way to its content."""
        rows = run.exchanges.order_by("number").only("number", "outcome", "error")[:EXCHANGES]
        lines = (
            (reverse("admin:sessions_app_exchange_change", args=[row.pk]), row.number, ending_of(row))
            for row in rows
        )
        return format_html_join("", '<div><a href="{}">exchange {}</a>: {}</div>', lines) or "–"

    @admin.display(ordering="session__owner__username")
    def owner(self, run: Run) -> str:
        return run.session.owner.get_username()

    @words_of("outcome", description="outcome")
    def end(self, run: Run) -> str:
        return outcome_of(run.outcome)

    @admin.display(description="error")
    def failed_with(self, run: Run) -> str:
        # Not the message: it may quote the request.
        return str(run.error.get("kind", "–"))

    @admin.display
    def code(self, run: Run) -> str:
        return str(run.error.get("code") or "–")
