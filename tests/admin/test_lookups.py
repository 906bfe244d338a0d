"""What a member of staff can filter, sort and search by: never by what the pages do not show."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.auth.models import Permission, User
from django.db import models
from django.test import Client, RequestFactory
from django.urls import reverse

from sessions_app.models import Memory
from tests.admin.pages import MARKER, list_of, marked_session

LOOKUPS = ("__startswith", "__contains", "__icontains", "__regex", "__gt", "__in", "__exact", "")
TEXTS = (models.CharField, models.TextField, models.JSONField, models.BinaryField, models.UUIDField)
FILTERED = {
    "auditentry": {"action"},
    "booking": {"cause", "source", "model"},
    "cacheentry": {"state"},
    "exchange": {"model", "verdict", "outcome"},
    "mcpserver": {"transport"},
    "memory": {"importance"},
    "prompttext": {"kind", "layer"},
    "run": {"status", "outcome"},
    "searchprice": {"per"},
    "session": {"model", "origin"},
    "spending": {"model", "source"},
    "turn": {"kind"},
}
"""Model → the fields with text that its list has a filter for: known words all, and no content."""

SEARCHED = {
    *("public", "session__public", "exchange__session__public", "exchange__model", "session__model"),
    *("user__username", "group__name"),
}
"""What is searched by without being shown: ids, models, names of groups and, below, of people."""

Model = type[models.Model]
each_admin = pytest.mark.parametrize(
    ("model", "listing"), admin.site._registry.items(), ids=[m.__name__ for m in admin.site._registry]
)
"""Every registered model with its admin; the admin's class is generic in the stubs only."""


def text_fields(model: Model) -> set[str]:
    return {field.name for field in model._meta.concrete_fields if isinstance(field, TEXTS)}


def reached(model: Model, depth: int = 2) -> Iterator[str]:
    """Paths to the text fields of related models, in both directions."""
    for field in model._meta.get_fields():
        related = field.related_model
        if isinstance(related, type) and not getattr(field, "hidden", False):
            further = reached(related, depth - 1) if depth > 1 else ()
            yield from (f"{field.name}__{path}" for path in (*text_fields(related), *further))


@pytest.fixture
def steward(db: None) -> User:
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return person


@pytest.fixture
def staff(steward: User) -> Client:
    client = Client()
    client.force_login(steward)
    return client


def request_of(person: User) -> Any:
    request = RequestFactory().get("/")
    request.user = person
    return request


@each_admin
def test_only_listed_fields_can_be_filtered_by(steward: User, model: Model, listing: Any) -> None:
    request = request_of(steward)
    name = model._meta.model_name or ""
    paths = {*text_fields(model), *reached(model)}
    looked_up = {path + lookup for path in paths for lookup in LOOKUPS}
    allowed = {lookup for lookup in looked_up if listing.lookup_allowed(lookup, "a", request)}
    expected = FILTERED.get(name, set()) if model._meta.app_label == "sessions_app" else set()
    assert allowed == {path + lookup for path in expected for lookup in ("", "__exact", "__in")}


@each_admin
def test_only_what_is_shown_can_be_sorted_and_searched_by(steward: User, model: Model, listing: Any) -> None:
    request = request_of(steward)
    columns = listing.get_list_display(request)
    shown = {*columns, *flatten_fieldsets(listing.get_fieldsets(request))}
    methods = [getattr(listing, str(name), None) for name in columns]
    # Shown in words.
    shown |= {getattr(getattr(listing, str(name), None), "stored_code", None) for name in shown}
    sorted_by = {getattr(method, "admin_order_field", None) for method in methods}
    used = {*listing.get_search_fields(request), *sorted_by, *listing.get_ordering(request)}
    hidden = used & {*text_fields(model), *reached(model)} - shown - SEARCHED
    assert {path for path in hidden if not path.endswith("owner__username")} == set()


def test_the_pages_refuse_to_narrow_by_a_text(staff: Client) -> None:
    for model in admin.site._registry:
        place = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        assert staff.get(place).status_code == 200
        for name in text_fields(model):
            assert staff.get(place, {f"{name}__startswith": "a"}).status_code == 400


def test_a_letter_more_or_less_changes_nothing(staff: Client, alice: User) -> None:
    session = marked_session(alice)
    Memory.objects.remember(alice.pk, MARKER, session=session)
    tries = {
        "turn": ("text", "session__title", "content__sha256", "content__body"),
        "session": ("title", "background", "turns__text", "memories__text"),
        "run": ("trigger__text", "error__message", "session__purpose"),
        "exchange": ("earlier_wording__verdict", "notes", "error__hint", "turns__text"),
        "memory": ("text", "owner__password"),
        "user": ("password", "memories__text", "chat_sessions__title"),
    }
    for name, paths in tries.items():
        place = reverse("admin:auth_user_changelist") if name == "user" else list_of(name)
        found = {staff.get(place, {f"{path}__startswith": MARKER[:3]}).status_code for path in paths}
        missed = {staff.get(place, {f"{path}__startswith": "other"}).status_code for path in paths}
        assert found == missed == {400}


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("turn", {"kind__exact": "user_task", "cut__exact": "1", "created_at__year": "2026"}),
        ("session", {"deleted_at__isempty": "1", "updated_at__gte": "2026-11-01 00:00:00+00:00"}),
        ("exchange", {"verdict": "hit", "outcome": "complete", "started_at__day": "3"}),
        ("spending", {"model": "gemini-3-flash-preview", "day__month": "11", "day__lt": "2026-12-01"}),
        ("cacheentry", {"state__exact": "live"}),
        ("allowedcommand", {"enabled__exact": "1"}),
    ],
)
def test_the_filters_of_the_lists_work(staff: Client, name: str, query: dict[str, str]) -> None:
    assert staff.get(list_of(name), query).status_code == 200


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("turn/?of=999999999999999999999999", 200),
        ("session/?of=999999999999999999999999", 200),
        ("auditentry/?at__year=0", 400),
        ("booking/?day__year=99999999", 400),
        ("booking/csv/?day__gte=abc", 400),
        ("spending/csv/?day__gte=abc", 400),
        ("spending/csv/?day__year=0", 400),
    ],
)
def test_no_address_made_by_hand_is_a_fault_of_the_server(staff: Client, address: str, status: int) -> None:
    assert staff.get(f"/admin/sessions_app/{address}").status_code == status


def test_people_are_filtered_by_what_they_may_do(staff: Client) -> None:
    query = {"is_staff__exact": "1", "is_active__exact": "1", "groups__isnull": "True"}
    assert staff.get(reverse("admin:auth_user_changelist"), query).status_code == 200
    assert staff.get(reverse("admin:auth_user_changelist"), {"groups__id__exact": "1"}).status_code == 200
