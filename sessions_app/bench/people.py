"""People for a load: `python -m sessions_app.bench.people COUNT` makes users, sessions and sign-ins.

It writes into the data folder that PIPEWEB_DATA names, which the bench makes for itself, and prints a seat
for each. Sessions are new in every load, so that no history grows from one to the next.
"""

import os
import sys
import uuid
from typing import TYPE_CHECKING

from sessions_app.bench.load import SEATS, Seat

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def seat_people(count: int) -> list[Seat]:
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.db import transaction

    from sessions_app.models import Session

    batch = uuid.uuid4().hex[:8]
    with transaction.atomic():
        people = [User.objects.create_user(f"bench-{batch}-{number}") for number in range(count)]
        sessions = [Session.objects.create(owner=person, model=settings.PIPEWEB_MODEL) for person in people]
        return [Seat(sign_in(session.owner), str(session.public)) for session in sessions]


def sign_in(person: "User") -> str:
    """The cookie header of a browser in which this person is signed in."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    store = SessionStore()
    store[SESSION_KEY] = str(person.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = person.get_session_auth_hash()
    store.save()
    return f"{settings.SESSION_COOKIE_NAME}={store.session_key}"


def main(count: str) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    django.setup()
    sys.stdout.buffer.write(SEATS.dump_json(seat_people(int(count))))


if __name__ == "__main__":
    main(*sys.argv[1:])
