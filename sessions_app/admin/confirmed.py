"""Actions on chosen rows behind a page that says what will happen, to how many rows."""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse

from sessions_app.admin.base import add_history, name_column, names_of

SHOWN = 50
"""Rows that the page names; of the rest it says how many."""

CONFIRMED = "confirmed"

Carry = Callable[[QuerySet[Any]], Sequence[int]]
"""Does it to these rows; returns the keys of those that were changed."""

Act = Callable[..., HttpResponse | StreamingHttpResponse | None]


def confirmed_action(name: str, title: str, consequence: str, carry_out: Carry, permission: str) -> Act:
    """An action of a list. Its page has ids and figures, never a title; rows that it changed have it in
    their history.
    """

    def act(listing: Any, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        if CONFIRMED not in request.POST:
            return asking_page(listing, request, queryset, name=name, title=title, consequence=consequence)
        keys = list(queryset.values_list("pk", flat=True))
        rows = queryset.model._default_manager.filter(pk__in=keys)
        changed = carry_out(rows)
        named = rows.model._default_manager.filter(pk__in=changed).only("pk", name_column(rows.model))
        add_history(request, named, title)
        listing.message_user(request, f"{title}: {len(changed):,} of {len(keys):,} rows.", messages.SUCCESS)
        return None

    return named_action(act, name, title, permission)


def named_action(act: Act, name: str, title: str, permission: str) -> Act:
    act.__name__ = name
    decorated: Act = admin.action(act, description=title, permissions=[permission])
    return decorated


def update_rows(rows: QuerySet[Any], **values: Any) -> list[int]:
    """Updates them; returns their keys."""
    keys = list(rows.order_by().values_list("pk", flat=True))
    rows.filter(pk__in=keys).update(**values)
    return keys


def asking_page(
    listing: Any, request: HttpRequest, queryset: QuerySet[Any], form: forms.Form | None = None, **said: str
) -> HttpResponse:
    """Names the chosen rows; `form` is what has to be said beside."""
    chosen = names_of(queryset)
    context = {
        **listing.admin_site.each_context(request),
        **said,
        "form": form,
        "opts": listing.model._meta,
        "chosen": chosen,
        "named": chosen[:SHOWN],
        "more": max(0, len(chosen) - SHOWN),
    }
    return TemplateResponse(request, "admin/confirm_action.html", context)
