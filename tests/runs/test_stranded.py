"""Messages that wait although nobody is left to answer them."""

import uuid
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.models import QueuedMessage, Run, Session
from sessions_app.runs.recovery import stranded
from sessions_app.runs.runner import Runner
from sessions_app.runs.watch import Watch
from tests.runs.conftest import Ask


async def leave_waiting(session: Session, *, seconds: int = 60) -> uuid.UUID:
    message = await QueuedMessage.objects.acreate(session=session, client_id=uuid.uuid4(), text="And now?")
    then = timezone.now() - timedelta(seconds=seconds)
    await QueuedMessage.objects.filter(pk=message.pk).aupdate(queued_at=then)
    return message.client_id


async def test_a_message_left_by_a_process_that_died_after_its_answer_is_answered(
    ask: Ask, runner: Runner, session: Session
) -> None:
    await ask("Hello")
    client_id = await leave_waiting(session)
    await Watch(runner).look(beat=True)
    await runner.drain()
    assert (await Run.objects.aget(client_id=client_id)).status == Run.Status.COMPLETED


@pytest.mark.parametrize("status", ["stopped", "failed", "interrupted", "running"])
async def test_after_anything_but_an_answer_it_waits_for_the_person(
    ask: Ask, session: Session, status: str
) -> None:
    run = await ask("Hello")
    await Run.objects.filter(pk=run.pk).aupdate(status=status)
    await leave_waiting(session)
    assert await sync_to_async(stranded)() == []


async def test_a_deleted_session_is_left_alone(ask: Ask, runner: Runner, session: Session) -> None:
    await ask("Hello")
    await leave_waiting(session)
    await Session.objects.filter(pk=session.pk).aupdate(deleted_at=timezone.now())
    assert await sync_to_async(stranded)() == []
    await runner.continue_with(session.pk)
    assert await QueuedMessage.objects.filter(session=session).aexists()


async def test_a_message_that_was_just_sent_is_left_to_its_run(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await leave_waiting(session, seconds=1)
    assert await sync_to_async(stranded)() == []
