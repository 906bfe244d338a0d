"""Users: erasing one takes every byte of theirs along."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from sessions_app.admin.sessions import Deleted, count_parts
from sessions_app.models import Blob, Session

if TYPE_CHECKING:
    BaseUserAdmin = UserAdmin[User]
else:
    # Generic only in the stubs.
    BaseUserAdmin = UserAdmin

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(BaseUserAdmin):
    show_full_result_count = False

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Deleted:
        """Counts instead of a list, as for sessions."""
        people = list(objs)
        sessions = Session.objects.filter(owner__in=people)
        lines = [f"User {person.get_username()}, with everything they wrote" for person in people]
        counts = {"users": len(people), "sessions": sessions.count(), **count_parts(sessions)}
        return lines, counts, set(), []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        erase_person(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for person in queryset:
            erase_person(person)


@transaction.atomic
def erase_person(person: User) -> None:
    """Their sessions first, each in a few statements; then what is left of them, and the account."""
    for session in Session.objects.filter(owner=person):
        session.erase()
    Blob.objects.collect(person.pk)
    person.delete()
