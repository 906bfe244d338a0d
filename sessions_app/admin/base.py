"""What all read-only pages of the admin share."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    # Generic only in the stubs.
    ModelAdmin = admin.ModelAdmin


class RecordAdmin(ModelAdmin):
    """Rows that are looked at and never touched singly: evidence that can be edited proves nothing."""

    list_per_page = 50
    show_full_result_count = False
    view_on_site = False
    search_help_text = "Owner, session id or model"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ChoiceFilter(admin.SimpleListFilter):
    """A filter over known words: Django's own would read the whole table for its distinct values."""

    words: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [(word, word.replace("_", " ")) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        return queryset.filter(**{str(self.parameter_name): chosen}) if chosen else queryset


def short(public: UUID) -> str:
    """The first eight digits of a public id: enough to tell rows apart and to search by."""
    return str(public)[:8]


def percent(part: int | None, whole: int | None) -> str:
    return "–" if not whole else f"{100 * (part or 0) // whole} %"
