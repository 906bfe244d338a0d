"""Users and groups, and spending. Deleting a user erases their sessions and blobs first."""

from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import DecimalField, F, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html

from sessions_app.admin.allowances import AllowanceInline, budgets_table
from sessions_app.admin.base import FilteredAdmin, RecordAdmin, percent, short
from sessions_app.admin.filters import ChoiceFilter, ModelFilter, OwnOwnerFilter
from sessions_app.admin.labels import sum_of, words_of
from sessions_app.admin.limits import LimitsInline, StackedInline, limits_table
from sessions_app.admin.sessions import Deleted, count_parts
from sessions_app.models import Booking, Session, Spending
from sessions_app.models.booking import INEXACT
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource, dollars
from sessions_app.runs.person_erasure import NOBODY, erase_person
from sessions_app.wording import costs

if TYPE_CHECKING:
    BaseUserAdmin = UserAdmin[User]
else:
    # Generic only in the stubs.
    BaseUserAdmin = UserAdmin

NOTHING = Value(Decimal(0), DecimalField())

admin.site.unregister([User, Group])


@admin.register(User)
class ErasingUserAdmin(FilteredAdmin, BaseUserAdmin):
    show_full_result_count = False
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Limits", {"fields": ("limits_now",)}))
    readonly_fields = ("limits_now",)

    @admin.display(description="used, and allowed")
    def limits_now(self, person: User) -> str:
        return format_html("{}{}", limits_table(person), budgets_table(person))

    def get_inlines(self, request: HttpRequest, obj: User | None) -> tuple[type[StackedInline], ...]:
        return (LimitsInline, AllowanceInline) if obj else ()

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Deleted:
        """Counts instead of a list, as for sessions."""
        people = list(objs)
        sessions = Session.objects.filter(owner__in=people)
        lines = [f"User {person.get_username()}, with everything they wrote" for person in people]
        counts = {"users": len(people), "sessions": sessions.count(), **count_parts(sessions)}
        return lines, counts, set(), []

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[User]) -> Any:
        """Writes Django's history of deletions without the names, which it would keep."""
        entries = super().log_deletions(request, queryset)
        chosen = [str(person.pk) for person in queryset]
        LogEntry.objects.filter(action_flag=DELETION, object_id__in=chosen).update(object_repr=NOBODY)
        return entries

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        erase_person(obj, by=request.user.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for person in queryset:
            erase_person(person, by=request.user.pk)


@admin.register(Group)
class PermissionGroupAdmin(FilteredAdmin, GroupAdmin):
    inlines = (LimitsInline, AllowanceInline)


@admin.register(Spending)
class SpendingAdmin(RecordAdmin):
    """Spending by person, day, model and source, with the sums by person of the listed rows."""

    list_display = (
        "owner",
        "day",
        "model",
        "source",
        "sum",
        "exchanges",
        "unpriced",
        "cut_off",
        "estimates",
        "cached",
        "answers",
        "caches_cost",
    )
    list_filter = ("day", ModelFilter, "source", OwnOwnerFilter)
    empty_value_display = "erased"
    list_select_related = ("owner",)
    date_hierarchy = "day"
    search_fields = ("owner__username", "model")
    search_help_text = "Owner or model"
    change_list_template = "admin/spending.html"

    @admin.display(description="cached share")
    def cached(self, row: Spending) -> str:
        return percent(row.cached_tokens, row.prompt_tokens)

    @sum_of(attrgetter("usd"), description="answers", ordering="usd")
    def answers(self, row: Spending) -> str:
        return spent_of(row).bound + dollars(row.usd)

    @sum_of(lambda row: row.cache_usd + row.storage_usd, description="caches")
    def caches_cost(self, row: Spending) -> str:
        """What has no price may be what keeping them cost."""
        mark = costs.mark(missing=row.unpriced if row.caches else 0, estimates=0)
        return mark + dollars(row.cache_usd + row.storage_usd)

    @sum_of(attrgetter("total"), description="sum")
    def sum(self, row: Spending) -> str:
        return costs.spent(spent_of(row))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            listed["totals"] = totals_of(listed["cl"].queryset)
        return response


class CauseFilter(ChoiceFilter):
    title = "cause"
    parameter_name = "cause"
    labels = {cause.value: costs.title_of(cause) for cause in SpendingCause}


@admin.register(Booking)
class BookingAdmin(RecordAdmin):
    """Every amount with its cause; a booking whose session or person was erased stays without it."""

    is_long = True
    list_display = ("day", "person", "in_session", "cause_text", "source", "model", "cost")
    list_filter = ("day", CauseFilter, "source", ModelFilter, OwnOwnerFilter)
    ordering = ("-pk",)
    list_select_related = ("owner", "session")
    search_fields = ("owner__username", "session__public", "model")
    fields = (
        ("owner", "session", "exchange"),
        ("day", "cause_text", "source"),
        ("model", "price", "search_price"),
        ("cost", "usd", "cut_off", "estimated"),
        ("prompt_tokens", "cached_tokens", "output_tokens", "thought_tokens", "tool_use_tokens"),
        ("searches", "answer_key"),
        ("cache_name", "stored_seconds"),
    )
    readonly_fields = ("cause_text", "cost")

    @words_of("cause", description="cause")
    def cause_text(self, row: Booking) -> str:
        return costs.title_of(SpendingCause(row.cause))

    @admin.display(ordering="owner", description="owner", empty_value="erased")
    def person(self, row: Booking) -> User | None:
        return row.owner

    @admin.display(ordering="session_id", description="session", empty_value="erased")
    def in_session(self, row: Booking) -> str | None:
        return short(row.session.public) if row.session else None

    @sum_of(attrgetter("usd"), description="cost", ordering="usd")
    def cost(self, row: Booking) -> str:
        usd, is_estimate = row.usd or Decimal(0), bool(row.estimated)
        return costs.spent(costs.Spent(usd, row.lacks_price, row.cut_off, is_estimate))


def spent_of(row: Spending) -> costs.Spent:
    return costs.Spent(row.total, row.unpriced, row.cut_off, row.estimates)


def totals_of(rows: QuerySet[Spending]) -> list[tuple[str, int, str]]:
    """(owner, exchanges, what was paid and would have cost) of the hundred largest sums.

    The owner is empty for people who were erased.
    """
    is_emulated = Q(source=MoneySource.EMULATOR)
    people: Any = rows.order_by().values("owner__username")
    sums = people.annotate(
        count=Sum("exchanges"),
        **_spent("paid", ~is_emulated),
        **_spent("emulated", is_emulated),
    )
    return [
        (
            one["owner__username"] or "",
            one["count"],
            costs.spent_by_source(
                *(
                    costs.Spent(one[name], *(one[f"{name}_{count}"] for count in INEXACT))
                    for name in ("paid", "emulated")
                )
            ),
        )
        for one in sums.order_by("-paid", "-emulated")[:100]
    ]


def _spent(name: str, which: Q) -> dict[str, Coalesce]:
    """The sum of those rows under that name, and how many of their bookings make it inexact."""
    amount = F("usd") + F("cache_usd") + F("storage_usd")
    counts = {f"{name}_{count}": Coalesce(Sum(count, filter=which), 0) for count in INEXACT}
    return {name: Coalesce(Sum(amount, filter=which), NOTHING), **counts}
