"""Runs, exchanges and raw chunks: states, times, counts, sizes and verdicts, never content."""

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from sessions_app.admin.base import (
    ChoiceFilter,
    ModelAdmin,
    RecordAdmin,
    SessionPartAdmin,
    add_history,
    milliseconds,
    percent,
    short,
)
from sessions_app.admin.confirmed import confirmed_action
from sessions_app.admin.content_access import ContentLinks
from sessions_app.admin.lists import ErrorFilter, OwnerFilter
from sessions_app.log_codes import LoggedAction
from sessions_app.models import Exchange, RawChunk, Run, Session
from sessions_app.models.audit_entry import record
from sessions_app.models.origin import Origin
from sessions_app.models.run import RunQuerySet
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.pricing import dollars
from sessions_app.runs.processes import PROCESS_DIED
from sessions_app.runs.run_end import end_run
from sessions_app.wording import verdicts

EXCHANGES = 50
"""Of a run, that its page leads to."""


class OutcomeFilter(ChoiceFilter):
    title = "outcome"
    parameter_name = "outcome"
    values = tuple(Outcome)


def stop_runs(runs: QuerySet[Run]) -> int:
    """Asks the processes of active runs of chats to stop them."""
    chats = Session.objects.filter(origin=Origin.CHAT)
    return runs.filter(status__in=Run.ACTIVE, session__in=chats).update(stop_requested=True)


@admin.register(Run)
class RunAdmin(ContentLinks, SessionPartAdmin):
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
    list_filter = ("status", OutcomeFilter, ErrorFilter, OwnerFilter, "started_at")
    ordering = ("-pk",)
    search_fields = ("public", "session__public", "session__owner__username", "session__model")
    fields = (
        ("public", "client_id"),
        ("session", "owner"),
        ("status", "outcome"),
        ("failed_with", "code"),
        "exchange_links",
        ("started_at", "heartbeat_at", "ended_at"),
    )
    readonly_fields = ("owner", "failed_with", "code", "exchange_links")
    actions = (
        "interrupt",
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
        """By the numbers of its requests, as the inspector's pages name them."""
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

    @admin.display(description="error")
    def failed_with(self, run: Run) -> str:
        # Not the message: it may quote the request.
        return str(run.error.get("kind", "–"))

    @admin.display
    def code(self, run: Run) -> str:
        return str(run.error.get("code") or "–")

    @admin.action(description="Mark stuck runs interrupted", permissions=["interrupt"])
    def interrupt(self, request: HttpRequest, queryset: RunQuerySet) -> None:
        """Ends the chosen runs whose process has died, and leaves others alone."""
        stuck = list(queryset.abandoned().values_list("pk", flat=True))
        ended = sum(end_run(pk, Run.Status.INTERRUPTED, error=PROCESS_DIED) is not None for pk in stuck)
        message = ngettext(
            "%d stuck run was marked interrupted.", "%d stuck runs were marked interrupted.", ended
        )
        self.message_user(request, message % ended, messages.SUCCESS if ended else messages.INFO)


class VerdictFilter(ChoiceFilter):
    title = "verdict"
    parameter_name = "verdict"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [(code.value, words) for code, words in verdicts.LABELS.items()]


@admin.register(Exchange)
class ExchangeAdmin(ContentLinks, SessionPartAdmin):
    list_display = (
        "label",
        "in_session",
        "model",
        "verdict_title",
        "prompt_tokens",
        "cached",
        "cost",
        "total",
        "end",
        "started_at",
    )
    list_filter = (VerdictFilter, OutcomeFilter, ErrorFilter, OwnerFilter, "started_at")
    ordering = ("-pk",)
    search_fields = ("session__public", "session__owner__username", "model", "served_model", "response_id")
    fields = (
        ("public", "number", "step"),
        ("session", "run", "resend_of"),
        ("model", "served_model", "provider", "base_url", "dialect"),
        ("cache_action", "cache_name", "verdict_title"),
        ("prompt_tokens", "cached_tokens", "output_tokens", "thought_tokens"),
        ("build", "first_chunk", "total"),
        ("request_size", "request_sha256", "sent_sha256"),
        ("outcome", "finish_reason", "failed_with"),
        "response_id",
        ("started_at", "ended_at"),
    )
    readonly_fields = ("verdict_title", "failed_with", "build", "first_chunk", "total")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Exchange]:
        bodies = ("manifest", "notes", "earlier_wording", "session__title", "session__background")
        return super().get_queryset(request).select_related("session").defer(*bodies)

    def content_path(self, row: Exchange) -> str:
        return row.get_absolute_url()

    @admin.display(ordering="number", description="exchange")
    def label(self, exchange: Exchange) -> str:
        return f"{exchange.number}, step {exchange.step}"

    @admin.display(description="verdict")
    def verdict_title(self, exchange: Exchange) -> str:
        return verdicts.label(exchange.verdict) if exchange.verdict else "–"

    @admin.display
    def cached(self, exchange: Exchange) -> str:
        return percent(exchange.cached_tokens, exchange.prompt_tokens)

    @admin.display(ordering="usd")
    def cost(self, exchange: Exchange) -> str:
        return "–" if exchange.usd is None else dollars(exchange.usd)

    @admin.display
    def build(self, exchange: Exchange) -> str:
        return milliseconds(exchange.build_ms)

    @admin.display(ordering="first_chunk_ms")
    def first_chunk(self, exchange: Exchange) -> str:
        return milliseconds(exchange.first_chunk_ms)

    @admin.display(ordering="total_ms")
    def total(self, exchange: Exchange) -> str:
        return milliseconds(exchange.total_ms)

    @admin.display(ordering="outcome")
    def end(self, exchange: Exchange) -> str:
        return ending_of(exchange)

    @admin.display(description="error")
    def failed_with(self, exchange: Exchange) -> str:
        return error_of(exchange)


def ending_of(exchange: Exchange) -> str:
    return error_of(exchange) if exchange.error else exchange.outcome


def error_of(exchange: Exchange) -> str:
    """Its kind and code, never its words: they may quote the request."""
    return " ".join(str(exchange.error[key]) for key in ("kind", "code") if exchange.error.get(key)) or "–"


@admin.register(RawChunk)
class RawChunkAdmin(RecordAdmin):
    """Raw responses: arrival times and sizes."""

    list_display = ("seq", "exchange", "session", "arrived", "size")
    ordering = ("-pk",)
    search_fields = ("exchange__session__public", "exchange__session__owner__username", "exchange__model")
    fields = (("exchange", "seq"), "session", ("arrived", "size"))
    readonly_fields = ("session", "arrived", "size")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RawChunk]:
        heavy = ("body", "exchange__manifest", "exchange__notes", "exchange__session__background")
        rows: QuerySet[RawChunk] = super().get_queryset(request)
        light = rows.select_related("exchange__session").defer(*heavy)
        return light.annotate(body_size=Length("body", output_field=IntegerField()))

    @admin.display
    def session(self, chunk: RawChunk) -> str:
        return short(chunk.exchange.session.public)

    @admin.display(ordering="ms", description="arrived after")
    def arrived(self, chunk: RawChunk) -> str:
        return milliseconds(chunk.ms)

    @admin.display(description="bytes")
    def size(self, chunk: RawChunk) -> int:
        return int(getattr(chunk, "body_size", 0))
