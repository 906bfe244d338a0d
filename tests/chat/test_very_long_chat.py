"""What reads a whole branch, of a chat with more messages than SQLite takes in one condition."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Blob, Run, Session, Turn
from sessions_app.models.blob import digest
from sessions_app.models.branches import copy_branch_below
from sessions_app.prompt.parts import text_of
from sessions_app.prompt.turns import TurnKind, user_task
from tests.factories import NOW, make_session

MESSAGES = 1_100
ANSWER = b'{"role":"model","parts":[{"text":"answer %d"}]}'


@pytest.fixture
def session(alice: User) -> Session:
    session = make_session(alice)
    runs = Run.objects.bulk_create(
        Run(session=session, client_id=uuid.uuid4(), status=Run.Status.COMPLETED, now=NOW)
        for _ in range(MESSAGES)
    )
    said = [user_task("", f"message {number}").wire for number in range(MESSAGES)]
    answers = [ANSWER % number for number in range(MESSAGES)]
    keys = Blob.objects.store(alice.pk, said + answers)
    turns = [
        Turn(session=session, run=run, kind=kind, content_id=keys[digest(body)], text=text_of(body))
        for run, *bodies in zip(runs, said, answers, strict=True)
        for kind, body in zip((TurnKind.USER_TASK, TurnKind.MODEL_RESPONSE), bodies, strict=True)
    ]
    copy_branch_below(session, None, turns)
    return session


@pytest.mark.django_db
def test_it_is_exported_shared_forked_and_summarised_whole(client: Client, session: Session) -> None:
    last, head = session.turns.filter(depth__gte=2 * MESSAGES - 2).order_by("depth")
    pages = {
        "markdown": client.get(reverse("export-markdown", args=[session.public])),
        "preview": client.post(reverse("share-preview", args=[session.public])),
        "summary": client.get(reverse("compress-history", args=[session.public, last.public])),
    }
    assert {name: page.status_code for name, page in pages.items()} == dict.fromkeys(pages, 200)
    assert "message 0" in pages["preview"].content.decode()
    assert client.post(reverse("fork", args=[session.public, head.public])).status_code == 302
    assert Session.objects.latest("pk").turns.count() == 2 * MESSAGES
