"""The browsers in which a person is signed in: when each was used last, from where, and their end."""

import re
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

import structlog
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session as StoredSession
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import timezone

from sessions_app.accounts.sign_ins import end_sign_ins

log = structlog.get_logger("pipeweb.accounts")

NOTED_EVERY = timedelta(minutes=5)
"""The time of the last use is as exact as this: a row is written no more often."""

REMEMBERED = 10_000
"""Sessions of which a process remembers when it wrote their row."""

BROWSERS = (
    ("Edge", r"Edg(e|A|iOS)?/"),
    ("Opera", r"OPR/"),
    ("Samsung Internet", r"SamsungBrowser/"),
    ("Firefox", r"(Firefox|FxiOS)/"),
    ("Chrome", r"(Chrome|CriOS|Chromium|HeadlessChrome)/"),
    ("Safari", r"Safari/"),
)
SYSTEMS = (
    ("Android", r"Android"),
    ("iPhone", r"iPhone"),
    ("iPad", r"iPad"),
    ("ChromeOS", r"CrOS"),
    ("Windows", r"Windows"),
    ("macOS", r"Mac OS X|Macintosh"),
    ("Linux", r"Linux|X11"),
)
"""Names, and what browsers write of themselves; the first that is found holds."""

_noted: OrderedDict[str, float] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Device:
    key: int
    browser: str
    system: str
    address: str
    since: datetime
    last_seen: datetime
    is_this: bool


def note_use(request: HttpRequest) -> None:
    """Keeps that the person's browser was in use, at most once in `NOTED_EVERY`."""
    key, now = str(request.session.session_key), monotonic()
    if now - _noted.get(key, float("-inf")) < NOTED_EVERY.total_seconds():
        return
    try:
        UserSession.objects.create_from_request(request)
    except DatabaseError as error:
        # A full disk keeps nobody from reading.
        log.warning("device_not_noted", error=type(error).__name__)
    _noted[key] = now
    if len(_noted) > REMEMBERED:
        _noted.popitem(last=False)


def devices_of(request: HttpRequest) -> list[Device]:
    """This one first, then by last use; rows of sessions that ended are deleted on the way."""
    rows = UserSession.objects.purge_and_list(request.user)
    here = request.session.session_key
    rows.sort(key=lambda row: (row.session_key != here, -row.last_seen_at.timestamp()))
    return [
        Device(
            row.pk,
            name_in(row.user_agent, BROWSERS),
            name_in(row.user_agent, SYSTEMS),
            row.ip,
            row.created_at,
            row.last_seen_at,
            row.session_key == here,
        )
        for row in rows
    ]


def name_in(agent: str, names: tuple[tuple[str, str], ...]) -> str:
    return next((name for name, pattern in names if re.search(pattern, agent)), "")


def end_device(row: UserSession) -> None:
    """Signs out one browser; its sockets end as its session is deleted."""
    for stored in StoredSession.objects.filter(session_key=row.session_key):
        stored.delete()
    row.delete()


def end_other_devices(request: HttpRequest) -> int:
    """Signs the person out everywhere but here, also where no row tells of a session."""
    return end_sessions(int(request.user.pk or 0), keep=request.session.session_key)


def end_sessions(person: int, *, keep: str | None = None) -> int:
    ended = end_sign_ins(person, keep=keep)
    UserSession.objects.filter(user=person).exclude(session_key=keep or "").delete()
    return ended


def count_devices(person: int) -> int:
    """Rows whose session is there; used by the admin, which ends none on the way."""
    keys = UserSession.objects.filter(user=person).values_list("session_key", flat=True)
    return StoredSession.objects.filter(session_key__in=list(keys), expire_date__gt=timezone.now()).count()
