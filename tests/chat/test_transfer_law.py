"""What is exported, imported and exported again is the same file, but for the keys that it makes anew."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.contrib.auth.models import User

from sessions_app.chat.transfer import export_session
from sessions_app.models import Blob, Session, Turn
from sessions_app.models.blob import digest
from sessions_app.prompt.turns import user_task
from tests import factories
from tests.chat.importing import import_session
from tests.factories import NOW

Wire = dict[str, Any]


def told(session: Session) -> Wire:
    """The export with the places of turns and runs instead of their keys; requests are not imported."""
    file: Wire = orjson.loads(export_session(session))
    places = {one["key"]: place for place, one in enumerate(file["turns"] + file["runs"])}
    for turn in file["turns"]:
        turn |= {name: places.get(turn[name]) for name in ("key", "parent", "run", "origin")}
    for run in file["runs"]:
        run |= {name: places.get(run[name]) for name in ("key", "trigger")}
    file["session"]["head"] = places.get(file["session"]["head"])
    return {name: value for name, value in file.items() if name not in ("exported_at", "exchanges")}


@pytest.fixture
def session(alice: User) -> Session:
    """Tools, signatures, two branches, times and settings."""
    session = factories.make_session(
        alice, purpose="Fly", settings={"temperature": 0.5}, args={"city": "Paris"}
    )
    factories.play_flight(session)
    factories.answered(session, "And \0 tomorrow?", "👩‍🚀 \0 done")
    Turn.append(session, user_task(str(uuid4()), "Another beginning"), parent=None)
    session.switch_branch(Turn.objects.get(session=session, depth=5))
    Session.objects.filter(pk=session.pk).update(created_at=NOW - timedelta(days=400))
    return Session.objects.get(pk=session.pk)


def test_a_session_comes_back_as_it_was(session: Session, bob: User) -> None:
    assert told(import_session(bob, export_session(session))) == told(session)


@pytest.mark.parametrize("role", [{"role": "tool"}, {"role": "function"}, {"role": ""}, {}])
def test_results_come_back_under_the_role_that_a_program_gave_them(
    role: Wire, session: Session, bob: User
) -> None:
    answer = session.turns.filter(kind=Turn.Kind.TOOL_RESPONSE).order_by("pk")[0]
    body = orjson.dumps(role | {"parts": orjson.loads(answer.wire)["parts"]})
    Turn.objects.filter(pk=answer.pk).update(
        content=Blob.objects.store(session.owner_id, [body])[digest(body)]
    )
    assert told(import_session(bob, export_session(session))) == told(session)
