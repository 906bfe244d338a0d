"""Limits of everybody, of groups and of single people, and what a person uses of them."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from sessions_app.admin.base import FilteredAdmin
from sessions_app.context.personal_limits import (
    LIMIT_NAMES,
    EffectiveLimits,
    active_runs,
    activity_of,
    limits_of,
)
from sessions_app.context.storage import MEGABYTE
from sessions_app.models import PersonalLimits, PersonalUsage, Session, SharedLink

if TYPE_CHECKING:
    StackedInline = admin.StackedInline[Any, Any]
else:
    # Generic only in the stubs.
    StackedInline = admin.StackedInline

DEFAULTS = EffectiveLimits()


class LimitsForm:
    """What the forms have in common: the default of the program stands in every empty field."""

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if db_field.name in LIMIT_NAMES and field is not None:
            field.widget.attrs["placeholder"] = getattr(DEFAULTS, db_field.name)
        return field


class LimitsInline(LimitsForm, StackedInline):
    """On the page of a group or a person."""

    model = PersonalLimits
    fields = (LIMIT_NAMES[:3], LIMIT_NAMES[3:])
    can_delete = True
    max_num = 1


@admin.register(PersonalLimits)
class PersonalLimitsAdmin(LimitsForm, FilteredAdmin):
    """Neither a group nor a user: the limits of everybody."""

    list_display = ("__str__", *LIMIT_NAMES)
    list_select_related = ("user", "group")
    fieldsets = (
        (
            None,
            {
                "fields": ("group", "user"),
                "description": (
                    "Neither of them: the limits of everybody. An empty field takes the value of the next: "
                    "user, groups (the largest), everybody, the default of the program. 0 allows none."
                ),
            },
        ),
        ("At most", {"fields": LIMIT_NAMES}),
    )
    autocomplete_fields = ("user", "group")
    search_fields = ("user__username", "group__name")
    search_help_text = "User or group"


def limits_table(person: User) -> SafeString:
    """A line for each limit that applies to the person: its name, what is used, and its value."""
    limits, used = limits_of(person.pk), use_of(person)
    lines = (
        (
            name.replace("_", " ").replace("mb", "MB"),
            f"{used[name]:,} of " if name in used else "",
            getattr(limits, name),
        )
        for name in LIMIT_NAMES
    )
    return format_html_join("", "<div>{}: {}{}</div>", lines)


def use_of(person: User) -> dict[str, int]:
    """What is used now, by name of the limit; not sockets, which each process counts for itself."""
    activity = activity_of(person.pk, timezone.now())
    usage = PersonalUsage.objects.filter(user=person).first() or PersonalUsage(user=person)
    return {
        "runs_at_once": active_runs(activity),
        "sends_per_minute": sum(row.sent_at is not None for row in activity),
        "upload_mb_per_day": usage.uploaded_today // MEGABYTE,
        "storage_mb": usage.stored // MEGABYTE,
        "sessions": Session.objects.of(person).count(),
        "shared_links": SharedLink.objects.filter(session__owner=person).count(),
    }
