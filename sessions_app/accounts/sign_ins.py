"""Sign-ins outside of requests: whom a session cookie belongs to, and which cookies still hold.

The rules are those of `django.contrib.auth.get_user`, for many cookies at once.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as StoredSession
from django.db.models import CharField, DateTimeField, IntegerField
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from sessions_app.models.prepared import Parameter, Reading

BY_LINK = "signed_in_by_link"
STEPS = "account_authentication_methods"
"""Names in a session: ours, and that of allauth for the steps which a sign-in has taken."""


REMEMBERED = 1_000
"""Sessions whose contents, and passwords whose hashes, are computed once: sockets ask before each message."""


class SignInWay(StrEnum):
    PASSWORD = "password"  # noqa: S105
    LINK = "link"
    SECOND_FACTOR = "second_factor"
    PROVIDER = "provider"


METHODS = {"mfa": SignInWay.SECOND_FACTOR, "socialaccount": SignInWay.PROVIDER}
"""allauth's names of what is no password."""


def ways_in(contents: Mapping[str, Any]) -> set[SignInWay]:
    """What the person has shown in this session."""
    steps = contents.get(STEPS) or ()
    found = {METHODS.get(str(step.get("method")), SignInWay.PASSWORD) for step in steps}
    return found | ({SignInWay.LINK} if contents.get(BY_LINK) else set())


def way_of(contents: Mapping[str, Any]) -> SignInWay:
    """The strongest step by which the session was begun."""
    ways = ways_in(contents)
    order = (SignInWay.LINK, SignInWay.SECOND_FACTOR, SignInWay.PROVIDER)
    return next((way for way in order if way in ways), SignInWay.PASSWORD)


def signed_in_users(session_keys: Collection[str]) -> dict[str, User]:
    """Session key → its user, without who is signed out or deactivated: two queries, three in a team."""
    contents = {row.session_key: _decoded(row.session_data) for row in _stored(session_keys)}
    users = _active({data[SESSION_KEY] for data in contents.values() if SESSION_KEY in data})
    found = {key: users.get(data.get(SESSION_KEY, "")) for key, data in contents.items()}
    valid = {key: user for key, user in found.items() if user is not None and _holds(contents[key], user)}
    if settings.PIPEWEB_ACCOUNTS != "team":
        return valid
    from sessions_app.accounts.team.rules import complete_only

    return complete_only(valid, contents)


def _stored(keys: Collection[str]) -> Iterable[StoredSession]:
    """A socket asks for its own before each message; all sockets together are asked for now and then."""
    now = timezone.now()
    if len(keys) == 1:
        return _one_stored.all(key=next(iter(keys)), now=now)
    return StoredSession.objects.filter(session_key__in=keys, expire_date__gt=now)


def _active(keys: Collection[str]) -> dict[str, User]:
    if len(keys) == 1:
        users: Iterable[User] = _one_active.all(key=next(iter(keys)))
    else:
        users = User.objects.filter(pk__in=keys, is_active=True)
    return {str(user.pk): user for user in users}


_one_stored: Reading[StoredSession] = Reading(
    lambda: StoredSession.objects.filter(
        session_key=Parameter("key", CharField()), expire_date__gt=Parameter("now", DateTimeField())
    )
)
_one_active: Reading[User] = Reading(
    lambda: User.objects.filter(pk=Parameter("key", IntegerField()), is_active=True)
)


def end_sign_ins(person: int, *, keep: str | None = None) -> int:
    """Ends every session of the person but `keep`; returns how many held. No column names whose one is."""
    ended, now = 0, timezone.now()
    for stored in StoredSession.objects.iterator():
        if stored.session_key != keep and stored.get_decoded().get(SESSION_KEY) == str(person):
            stored.delete()
            ended += stored.expire_date > now
    return ended


def _holds(data: Mapping[str, Any], user: User) -> bool:
    """Whether the session was begun with the user's present password."""
    begun_with = data.get(HASH_SESSION_KEY, "")
    hashes = _auth_hashes(user.password)
    is_ours = data.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
    return is_ours and any(constant_time_compare(begun_with, one) for one in hashes)


@lru_cache(maxsize=REMEMBERED)
def _decoded(session_data: str) -> Mapping[str, Any]:
    """The contents of a session; whoever asks reads only."""
    found: dict[str, Any] = StoredSession(session_data=session_data).get_decoded()
    return found


@lru_cache(maxsize=REMEMBERED)
def _auth_hashes(password: str) -> tuple[str, ...]:
    """What a session has that was begun with this password, as it is stored."""
    user = User(password=password)
    return user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()
