"""Exchanges and raw chunks: times, counts, sizes and verdicts, never content."""

import json
from operator import attrgetter

from django.contrib import admin
from django.db.models import Exists, IntegerField, OuterRef, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.html import format_html

from sessions_app.admin.base import (
    RecordAdmin,
    SessionPartAdmin,
    milliseconds,
    percent,
    short,
)
from sessions_app.admin.content_access import ContentLinks
from sessions_app.admin.filters import ChoiceFilter, ErrorFilter, ModelFilter, OwnerFilter
from sessions_app.admin.labels import in_words, sum_of, words_of
from sessions_app.exchange_sums import cost_of
from sessions_app.models import CapturedRequest, Exchange, RawChunk
from sessions_app.prompt.outcomes import Outcome
from sessions_app.wording import cache_plans, outcomes, verdicts


def outcome_of(code: str) -> str:
    """How a reply ended, as other pages say it."""
    return outcomes.sentence(code) or in_words(code) or "–"


def error_of(exchange: Exchange) -> str:
    """Its kind and code, never its words: they may quote the request."""
    return " ".join(str(exchange.error[key]) for key in ("kind", "code") if exchange.error.get(key)) or "–"


def ending_code(exchange: Exchange) -> str:
    return error_of(exchange) if exchange.error else exchange.outcome


class OutcomeFilter(ChoiceFilter):
    title = "outcome"
    parameter_name = "outcome"
    labels = {code.value: outcome_of(code) for code in Outcome}


class VerdictFilter(ChoiceFilter):
    title = "verdict"
    parameter_name = "verdict"
    labels = {code.value: words for code, words in verdicts.LABELS.items()}


@admin.register(Exchange)
class ExchangeAdmin(ContentLinks, SessionPartAdmin):
    is_long = True
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
    list_filter = (ModelFilter, VerdictFilter, OutcomeFilter, ErrorFilter, OwnerFilter, "started_at")
    ordering = ("-pk",)
    search_fields = ("public", "session__public", "session__owner__username", "model", "=response_id")
    search_help_text = "Owner, model, the provider's id of the answer, or the beginning of an id of ours"
    fields = (
        ("public", "number", "step"),
        ("session", "run", "resend_of"),
        ("model", "served_model", "provider", "base_url", "dialect"),
        ("cache_plan_text", "cache_name", "verdict_title"),
        ("prompt_tokens", "cached_tokens", "output_tokens", "thought_tokens"),
        ("build", "first_chunk", "total"),
        ("request_size", "request_sha256", "sent_sha256"),
        ("outcome_text", "finish_reason", "failed_with"),
        "response_id",
        ("started_at", "ended_at"),
        "figures",
    )
    readonly_fields = (
        *("cache_plan_text", "verdict_title", "outcome_text", "failed_with"),
        *("build", "first_chunk", "total", "figures"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Exchange]:
        bodies = ("manifest", "notes", "earlier_wording", "session__title", "session__background")
        return super().get_queryset(request).select_related("session").defer(*bodies)

    def content_path(self, row: Exchange) -> str:
        return row.get_absolute_url()

    @admin.display(description="estimated tokens of the layers, and the cost in its terms")
    def figures(self, exchange: Exchange) -> str:
        """Folded until it is opened; counts and rates only, where `usage` and `notes` may quote."""
        stored = {"layer_tokens": exchange.layer_tokens, "money": exchange.money}
        return format_html(
            "<details><summary>JSON</summary><pre>{}</pre></details>", json.dumps(stored, indent=2)
        )

    @admin.display(ordering="number", description="exchange")
    def label(self, exchange: Exchange) -> str:
        return f"{exchange.number}, step {exchange.step}"

    @words_of("cache_action", description="cache")
    def cache_plan_text(self, exchange: Exchange) -> str:
        return cache_plans.action(exchange.cache_action) if exchange.cache_action else "–"

    @words_of("outcome", description="outcome")
    def outcome_text(self, exchange: Exchange) -> str:
        return outcome_of(exchange.outcome)

    @words_of("verdict", description="verdict")
    def verdict_title(self, exchange: Exchange) -> str:
        return verdicts.label(exchange.verdict) if exchange.verdict else "–"

    @admin.display
    def cached(self, exchange: Exchange) -> str:
        return percent(exchange.cached_tokens, exchange.prompt_tokens)

    @sum_of(attrgetter("usd"), description="cost", ordering="usd")
    def cost(self, exchange: Exchange) -> str:
        return cost_of(exchange).text

    @admin.display
    def build(self, exchange: Exchange) -> str:
        return milliseconds(exchange.build_ms)

    @admin.display(ordering="first_chunk_ms")
    def first_chunk(self, exchange: Exchange) -> str:
        return milliseconds(exchange.first_chunk_ms)

    @admin.display(ordering="total_ms")
    def total(self, exchange: Exchange) -> str:
        return milliseconds(exchange.total_ms)

    @words_of(ending_code, description="end", ordering="outcome")
    def end(self, exchange: Exchange) -> str:
        return ending_of(exchange)

    @admin.display(description="error")
    def failed_with(self, exchange: Exchange) -> str:
        return error_of(exchange)


def ending_of(exchange: Exchange) -> str:
    return error_of(exchange) if exchange.error else outcome_of(exchange.outcome)


@admin.register(RawChunk)
class RawChunkAdmin(RecordAdmin):
    """Raw responses: arrival times and sizes."""

    is_long = True
    list_display = ("seq", "exchange", "session", "arrived", "size")
    ordering = ("-pk",)
    search_fields = ("exchange__session__public", "exchange__session__owner__username")
    search_help_text = "Owner, or the beginning of a session's id"
    fields = (("exchange", "seq"), "session", ("arrived", "size"))
    readonly_fields = ("session", "arrived", "size")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RawChunk]:
        heavy = ("body", "exchange__manifest", "exchange__notes", "exchange__session__background")
        rows: QuerySet[RawChunk] = super().get_queryset(request)
        light = rows.select_related("exchange__session").defer(*heavy)
        untimed = CapturedRequest.objects.filter(exchange=OuterRef("exchange"), packets=[])
        size = Length("body", output_field=IntegerField())
        return light.annotate(body_size=size, is_untimed=Exists(untimed))

    @admin.display
    def session(self, chunk: RawChunk) -> str:
        return short(chunk.exchange.session.public)

    @admin.display(ordering="ms", description="arrived after")
    def arrived(self, chunk: RawChunk) -> str:
        return milliseconds(None if getattr(chunk, "is_untimed", False) else chunk.ms)

    @admin.display(description="bytes")
    def size(self, chunk: RawChunk) -> int:
        return int(getattr(chunk, "body_size", 0))
