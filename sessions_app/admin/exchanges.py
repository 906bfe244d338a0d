"""Exchanges and raw responses: times, counts, sizes and verdicts."""

from django.contrib import admin
from django.db.models import IntegerField, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest

from sessions_app.admin.base import ChoiceFilter, RecordAdmin, percent, short
from sessions_app.admin.runs import OutcomeFilter
from sessions_app.models import Exchange, RawChunk
from sessions_app.prompt.caching import VerdictCode


class VerdictFilter(ChoiceFilter):
    title = "verdict"
    parameter_name = "verdict"
    words = tuple(VerdictCode)


@admin.register(Exchange)
class ExchangeAdmin(RecordAdmin):
    list_display = (
        "label",
        "in_session",
        "model",
        "verdict",
        "prompt_tokens",
        "cached",
        "total_ms",
        "end",
        "started_at",
    )
    list_filter = (VerdictFilter, OutcomeFilter, "started_at")
    ordering = ("-pk",)
    date_hierarchy = "started_at"
    search_fields = ("session__public", "session__owner__username", "model", "served_model", "response_id")
    fields = (
        ("public", "number", "step"),
        ("session", "run", "resend_of"),
        ("model", "served_model", "provider", "dialect"),
        ("cache_action", "cache_name", "verdict"),
        ("prompt_tokens", "cached_tokens", "output_tokens", "thought_tokens"),
        ("build_ms", "first_chunk_ms", "total_ms"),
        ("request_size", "request_sha256", "sent_sha256"),
        ("outcome", "finish_reason", "failed_with"),
        "response_id",
        ("started_at", "ended_at"),
    )
    readonly_fields = ("failed_with",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Exchange]:
        bodies = ("manifest", "notes", "verdict_words", "session__title", "session__background")
        return super().get_queryset(request).select_related("session").defer(*bodies)

    @admin.display(ordering="number", description="exchange")
    def label(self, exchange: Exchange) -> str:
        return f"{exchange.number}, step {exchange.step}"

    @admin.display(ordering="session__public", description="session")
    def in_session(self, exchange: Exchange) -> str:
        return short(exchange.session.public)

    @admin.display
    def cached(self, exchange: Exchange) -> str:
        return percent(exchange.cached_tokens, exchange.prompt_tokens)

    @admin.display(ordering="outcome")
    def end(self, exchange: Exchange) -> str:
        return self.failed_with(exchange) if exchange.error else exchange.outcome

    @admin.display(description="error")
    def failed_with(self, exchange: Exchange) -> str:
        return (
            " ".join(str(exchange.error[key]) for key in ("kind", "code") if exchange.error.get(key)) or "–"
        )


@admin.register(RawChunk)
class RawChunkAdmin(RecordAdmin):
    """Raw responses: that they are there, when they came and how large they are."""

    list_display = ("seq", "exchange", "session", "ms", "size")
    ordering = ("-pk",)
    search_fields = ("exchange__session__public", "exchange__session__owner__username", "exchange__model")
    fields = (("exchange", "seq"), "session", ("ms", "size"))
    readonly_fields = ("session", "size")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RawChunk]:
        heavy = ("body", "exchange__manifest", "exchange__notes", "exchange__session__background")
        rows: QuerySet[RawChunk] = super().get_queryset(request)
        light = rows.select_related("exchange__session").defer(*heavy)
        return light.annotate(body_size=Length("body", output_field=IntegerField()))

    @admin.display
    def session(self, chunk: RawChunk) -> str:
        return short(chunk.exchange.session.public)

    @admin.display(description="bytes")
    def size(self, chunk: RawChunk) -> int:
        return int(getattr(chunk, "body_size", 0))
