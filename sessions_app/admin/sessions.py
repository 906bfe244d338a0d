"""Sessions and turns: sizes and counts, and erasing a session."""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.db.models import Count, IntegerField, Model, OuterRef, QuerySet, Subquery, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from sessions_app.admin.base import RecordAdmin, SessionPartAdmin, percent, short
from sessions_app.admin.content_access import ContentLinks, ReadingPage
from sessions_app.admin.filters import ChoiceFilter, ModelFilter, OwnerFilter, OwnOwnerFilter
from sessions_app.admin.labels import in_words, sum_of, words_of
from sessions_app.admin.session_actions import ACTIONS
from sessions_app.admin.session_filters import LastRunFilter, SessionErrorFilter, SessionVerdictFilter
from sessions_app.exchange_sums import cost_of_session
from sessions_app.models import (
    Exchange,
    ExchangeAttempt,
    RawChunk,
    RetentionRules,
    Run,
    RunLog,
    Session,
    SharedLink,
    Source,
    Turn,
)
from sessions_app.models.content_grant import may_read_content
from sessions_app.prompt.turns import TurnKind
from sessions_app.retention_codes import RetentionRule
from sessions_app.wording import turns

Deleted = tuple[list[Any], dict[str, int], set[str], list[str]]
"""What ModelAdmin.get_deleted_objects returns: rows, counts by model, missing permissions, protected rows."""

_TOKENS = Sum(
    Coalesce("prompt_tokens", 0) + Coalesce("output_tokens", 0) + Coalesce("thought_tokens", 0),
    output_field=IntegerField(),
)

PARTS: dict[str, Callable[[Iterable[Session]], QuerySet[Any]]] = {
    "turns": lambda sessions: Turn.objects.filter(session__in=sessions),
    "runs": lambda sessions: Run.objects.filter(session__in=sessions),
    "exchanges": lambda sessions: Exchange.objects.filter(session__in=sessions),
    "HTTP attempts": lambda sessions: ExchangeAttempt.objects.filter(exchange__session__in=sessions),
    "raw chunks": lambda sessions: RawChunk.objects.filter(exchange__session__in=sessions),
    "events": lambda sessions: RunLog.objects.filter(run__session__in=sessions),
    "sources": lambda sessions: Source.objects.filter(session__in=sessions),
    "shared links": lambda sessions: SharedLink.objects.filter(session__in=sessions),
}


def count_parts(sessions: Iterable[Session]) -> dict[str, int]:
    """The number of rows deleted with these sessions, without loading them."""
    return {name: rows(sessions).count() for name, rows in PARTS.items()}


@admin.register(Session)
class SessionAdmin(ContentLinks, ReadingPage, RecordAdmin):
    is_long = True
    list_display = (
        "label",
        "owner",
        "model",
        "turns",
        "requests",
        "tokens",
        "cached",
        "cost",
        "last_error",
        "updated_at",
    )
    list_filter = (
        LastRunFilter,
        SessionErrorFilter,
        SessionVerdictFilter,
        OwnOwnerFilter,
        ModelFilter,
        "origin",
        "updated_at",
        ("archived_at", admin.EmptyFieldListFilter),
        ("deleted_at", admin.EmptyFieldListFilter),
    )
    # By another column every session's figures would be computed first.
    ordering = ("-pk",)
    list_select_related = ("owner",)
    search_fields = ("public", "owner__username", "model")
    fields = (
        ("public", "owner"),
        "model",
        ("turns", "requests"),
        ("tokens", "cached", "cost"),
        "last_error",
        ("created_at", "updated_at", "deleted_at", "erased_on"),
    )
    readonly_fields = ("erased_on", "turns", "requests", "tokens", "cached", "cost", "last_error")

    actions = ACTIONS

    def has_move_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("sessions_app.change_session")

    def has_read_content_permission(self, request: HttpRequest) -> bool:
        return may_read_content(request.user)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("sessions_app.delete_session")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Session]:
        exchanges = Exchange.objects.filter(session=OuterRef("pk")).order_by()
        failed = Exchange.objects.filter(session=OuterRef("pk")).exclude(error={}).order_by("-number")
        rows: QuerySet[Session] = super().get_queryset(request)
        return rows.defer("title", "purpose", "background", "settings").annotate(
            turn_count=_total(Turn.objects.filter(session=OuterRef("pk")).order_by(), Count("pk")),
            prompt_sum=_total(exchanges, Sum("prompt_tokens")),
            cached_sum=_total(exchanges, Sum("cached_tokens")),
            token_sum=_total(exchanges, _TOKENS),
            failed_with=Subquery(failed.annotate(word=KeyTextTransform("kind", "error")).values("word")[:1]),
        )

    def content_path(self, row: Session) -> str:
        return row.get_absolute_url()

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        if "delete_selected" in actions:
            description = "Erase selected sessions, with everything in them"
            actions["delete_selected"] = (*actions["delete_selected"][:2], description)
        return actions

    @admin.display(ordering="public", description="session")
    def label(self, session: Session) -> str:
        return short(session.public)

    @admin.display(ordering="turn_count")
    def turns(self, session: Any) -> int:
        return session.turn_count or 0

    @admin.display(ordering="exchange_count", description="exchanges")
    def requests(self, session: Any) -> int:
        return int(session.exchange_count)

    @admin.display(ordering="token_sum")
    def tokens(self, session: Any) -> str:
        return f"{session.token_sum or 0:,}"

    @admin.display
    def cached(self, session: Any) -> str:
        return percent(session.cached_sum, session.prompt_sum)

    @sum_of(attrgetter("spent_usd"), description="cost", ordering="spent_usd")
    def cost(self, session: Session) -> str:
        return cost_of_session(session)

    @admin.display
    def last_error(self, session: Any) -> str:
        return session.failed_with or "–"

    @admin.display(description="will be erased")
    def erased_on(self, session: Session) -> str:
        """When a session in the trash is erased by the rules of today; the hourly round does it."""
        if session.deleted_at is None:
            return "–"
        age = RetentionRules.current().age_of(RetentionRule.TRASH_DAYS)
        return "never" if age is None else f"{session.deleted_at + age:%d %b %Y}"

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Deleted:
        """Counts instead of a list: collecting the cascades would load all rows of the sessions."""
        sessions = list(objs)
        counts = count_parts(sessions)
        lines = [f"Session {session.public}" for session in sessions]
        return lines, {"sessions": len(sessions), **counts}, set(), []

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        obj.erase()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        for session in queryset:
            session.erase()


def kind_of(code: str) -> str:
    return turns.kind(code) or in_words(code)


class KindFilter(ChoiceFilter):
    title = "kind"
    parameter_name = "kind"
    labels = {code.value: kind_of(code) for code in TurnKind}


@admin.register(Turn)
class TurnAdmin(ContentLinks, SessionPartAdmin):
    is_long = True
    list_display = ("label", "kind_text", "in_session", "size", "cut", "exchange", "created_at")
    list_filter = (KindFilter, "cut", OwnerFilter, "created_at")
    ordering = ("-pk",)
    search_fields = ("public", "session__public", "session__owner__username")
    search_help_text = "Owner, or the beginning of the id of a turn or a session"
    fields = (
        ("public", "kind_text"),
        ("session", "run", "exchange"),
        ("label", "follows"),
        "size",
        "route",
        "cut",
        "created_at",
    )
    readonly_fields = ("label", "kind_text", "follows", "size")

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

    def content_path(self, row: Turn) -> str:
        return f"{row.session.get_absolute_url()}?leaf={row.public}"

    @admin.display(ordering="depth", description="turn")
    def label(self, turn: Turn) -> str:
        """Its number, as the chat shows it."""
        return str(turn.number)

    @words_of("kind", description="kind")
    def kind_text(self, turn: Turn) -> str:
        return kind_of(turn.kind)

    @admin.display(description="follows turn")
    def follows(self, turn: Turn) -> str:
        return str(turn.number - 1) if turn.depth else "–"

    @admin.display(ordering="content__size", description="bytes")
    def size(self, turn: Turn) -> int:
        return turn.content.size


def _total(rows: QuerySet[Any], expression: Any) -> Subquery:
    """A subquery with one number per session."""
    grouped = rows.values("session").annotate(total=expression).values("total")
    return Subquery(grouped, output_field=IntegerField())
