"""Which sessions of the browser count as signed in, where people have a second factor or must have one."""

from collections.abc import Collection, Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User

from sessions_app.accounts.sign_ins import BY_LINK, SignInWay, ways_in

Contents = Mapping[str, Any]
"""What a session holds."""


def must_have_factor(user: User) -> bool:
    who = settings.PIPEWEB_SECOND_FACTOR
    return bool(who == "everybody" or (who == "staff" and (user.is_staff or user.is_superuser)))


def with_factor(keys: Collection[int]) -> set[int]:
    """Those of these people who have a second factor."""
    rows = Authenticator.objects.filter(user__in=keys, type=Authenticator.Type.TOTP)
    return set(rows.values_list("user_id", flat=True))


def has_passed(contents: Contents) -> bool:
    """Whether the session gave a code, or was begun by a link of whoever owns the machine."""
    return bool(contents.get(BY_LINK)) or SignInWay.SECOND_FACTOR in ways_in(contents)


def complete_only(users: Mapping[str, User], contents: Mapping[str, Contents]) -> dict[str, User]:
    """Session key → user, without sessions that lack a step: one query."""
    holders = with_factor({user.pk for user in users.values()}) if users else set()
    return {
        key: user
        for key, user in users.items()
        if (has_passed(contents[key]) if user.pk in holders else not must_have_factor(user))
    }
