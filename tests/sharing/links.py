"""Sharing a conversation as its page does it."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from sessions_app.models import Session, SharedLink
from sessions_app.sharing.building import Branch
from sessions_app.sharing.snapshot import Snapshot


def snapshot_of(session: Session, *, has_details: bool = True, chosen: tuple[int, ...] = ()) -> Snapshot:
    session.refresh_from_db()
    return Branch.ending_at(session, session.head).snapshot(has_details=has_details, chosen=chosen)


def preview(client: Client, session: Session, **choices: Any) -> str:
    answer = client.post(reverse("share-preview", args=[session.public]), {"content": "text", **choices})
    assert answer.status_code == 200
    return answer.content.decode()


def digest_in(html: str) -> str:
    found = re.search(r'name="digest" value="(\w+)"', html)
    assert found, html
    return found[1]


def make_link(client: Client, session: Session, **choices: Any) -> SharedLink:
    """Previews, makes what was previewed, and returns the row."""
    fields = {"content": "text", "lifetime": "30", **choices}
    digest = digest_in(preview(client, session, **fields))
    answer = client.post(reverse("share", args=[session.public]), {**fields, "digest": digest})
    link = SharedLink.objects.first()
    assert link and link.token in answer.content.decode()
    return link


def address(link: SharedLink) -> str:
    return reverse("shared", args=[link.token])


def read(link: SharedLink, status: int = 200) -> str:
    """The page as somebody without an account gets it."""
    answer = Client().get(address(link))
    assert answer.status_code == status
    return answer.content.decode()
