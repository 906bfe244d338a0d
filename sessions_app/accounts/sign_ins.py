"""Sign-ins outside of requests: whom a session cookie belongs to, and which cookies still hold.

The rules are those of `django.contrib.auth.get_user`, for many cookies at once.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as StoredSession
from django.utils import timezone
from django.utils.crypto import constant_time_compare


def signed_in_users(session_keys: Collection[str]) -> dict[str, User]:
    """Session key → its user, without those who are signed out or deactivated: two queries."""
    stored = StoredSession.objects.filter(session_key__in=session_keys, expire_date__gt=timezone.now())
    contents = {row.session_key: row.get_decoded() for row in stored}
    keys = {data[SESSION_KEY] for data in contents.values() if SESSION_KEY in data}
    users = {str(user.pk): user for user in User.objects.filter(pk__in=keys, is_active=True)} if keys else {}
    found = {key: users.get(data.get(SESSION_KEY, "")) for key, data in contents.items()}
    return {key: user for key, user in found.items() if user is not None and _holds(contents[key], user)}


def _holds(data: Mapping[str, Any], user: User) -> bool:
    """Whether the session was begun with the user's present password."""
    begun_with = data.get(HASH_SESSION_KEY, "")
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    is_ours = data.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
    return is_ours and any(constant_time_compare(begun_with, one) for one in hashes)
