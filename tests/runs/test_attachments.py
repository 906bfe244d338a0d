"""Files of messages through the real client and the emulator, to the rows."""

import uuid
from datetime import timedelta
from io import BytesIO

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.models import Attachment, Blob, Exchange, Run, RunLog, Session, Source, Turn
from sessions_app.prompt.media import media_in, referenced_keys
from sessions_app.prompt.parts import raw_parts
from sessions_app.runs import attachment_parts
from sessions_app.runs.runner import Runner

PNG = b"\x89PNG\r\n\x1a\n picture"
CLIP = b"\0\0\0\x18ftypmp42" + b"moving" * 100


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the smallest file fits inside a request."""
    monkeypatch.setattr(attachment_parts, "INLINE_LIMIT", 100)


async def attach(session: Session, body: bytes = PNG, mime: str = "image/png") -> Attachment:
    return await sync_to_async(Attachment.objects.add)(session, name="file", mime=mime, file=BytesIO(body))


async def send(runner: Runner, session: Session, text: str, *files: Attachment) -> Run:
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, text, files=[file.public for file in files])
    await runner.drain()
    return await Run.objects.select_related("session", "trigger__content").aget(client_id=client_id)


async def body_of(run: Run) -> bytes:
    exchange = await Exchange.objects.filter(run=run).order_by("-number").afirst()
    assert exchange and await sync_to_async(exchange.is_faithful)()
    return await sync_to_async(exchange.request_body)()


async def test_an_image_goes_to_the_model_as_a_part(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "What is this?", await attach(session))
    assert run.status == Run.Status.COMPLETED and run.trigger
    ((index, found),) = media_in(run.trigger.wire)
    assert (index, found.mime, found.size) == (0, "image/png", len(PNG))
    assert run.trigger.wire in await body_of(run)


async def test_its_bytes_are_stored_once_however_often_they_are_sent(
    runner: Runner, session: Session
) -> None:
    first = await send(runner, session, "What is this?", await attach(session))
    await send(runner, session, "And now?")
    assert first.trigger
    assert await Attachment.objects.acount() == 0
    name = f"turn:{first.trigger.public}"
    blobs = {source.blob_id async for source in Source.objects.filter(session=session, name=name)}
    assert blobs == {first.trigger.content_id}
    raw = [blob async for blob in Blob.objects.all() if blob.bytes == PNG]
    assert raw == []


async def test_a_message_may_be_a_picture_alone(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "", await attach(session))
    assert (run.status, run.session.title) == (Run.Status.COMPLETED, "file")


@pytest.mark.usefixtures("tight")
async def test_a_large_file_is_uploaded_before_it_is_named(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "Watch this.", await attach(session, CLIP, "video/mp4"))
    file = await Attachment.objects.aget()
    assert run.status == Run.Status.COMPLETED and run.trigger and file.turn_id == run.trigger.pk
    assert referenced_keys(run.trigger.wire) == (str(file.public),)
    assert file.expires_at and file.expires_at > timezone.now() + timedelta(hours=47)
    assert f'"fileUri":"{file.uri}"'.encode() in await body_of(run)
    log = "".join([wire async for row in RunLog.objects.filter(run=run) for wire in row.wires])
    assert "Uploading file" in log


async def test_inline_files_of_earlier_messages_count(
    runner: Runner, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachment_parts, "INLINE_LIMIT", 150)
    for text in ("What is this?", "And this?"):
        last = await send(runner, session, text, await attach(session, PNG + b"x" * 60))
    assert last.trigger and referenced_keys(last.trigger.wire)


@pytest.mark.usefixtures("tight")
async def test_a_file_that_has_expired_is_uploaded_again(runner: Runner, session: Session) -> None:
    first = await send(runner, session, "Watch this.", await attach(session, CLIP, "video/mp4"))
    before = await Attachment.objects.aget()
    await Attachment.objects.aupdate(expires_at=timezone.now())
    second = await send(runner, session, "Once more.")
    after = await Attachment.objects.aget()
    assert second.status == Run.Status.COMPLETED and after.uri != before.uri
    assert after.uri.encode() in await body_of(second)
    kept = await Turn.objects.select_related("content").aget(triggered=first)
    assert first.trigger and kept.wire == first.trigger.wire


@pytest.mark.usefixtures("tight")
async def test_a_file_that_is_gone_does_not_stop_the_conversation(runner: Runner, session: Session) -> None:
    await send(runner, session, "Watch this.", await attach(session, CLIP, "video/mp4"))
    await Attachment.objects.all().adelete()
    run = await send(runner, session, "Once more.")
    assert run.status == Run.Status.COMPLETED
    assert b"[The file file is not available any more.]" in await body_of(run)


async def test_a_queued_message_keeps_its_files(runner: Runner, session: Session) -> None:
    file, first, second = await attach(session), uuid.uuid4(), uuid.uuid4()
    await runner.send(session.pk, first, "/slow please")
    await runner.send(session.pk, second, "And this?", files=[file.public])
    assert not await sync_to_async(Attachment.objects.in_composer(session).exists)()
    await runner.drain()
    run = await Run.objects.select_related("trigger__content").aget(client_id=second)
    assert run.trigger and len(media_in(run.trigger.wire)) == 1


async def test_sending_twice_under_one_id_takes_the_files_once(runner: Runner, session: Session) -> None:
    file, client_id = await attach(session), uuid.uuid4()
    for _ in range(2):
        await runner.send(session.pk, client_id, "This?", files=[file.public])
    await runner.drain()
    assert await Run.objects.filter(session=session).acount() == 1


async def test_an_edit_keeps_the_files(runner: Runner, session: Session) -> None:
    run = await send(runner, session, "What is this?", await attach(session))
    assert run.trigger
    client_id = uuid.uuid4()
    await runner.edit(session.pk, client_id, run.trigger.public, "Who is this?")
    await runner.drain()
    edited = await Run.objects.select_related("trigger__content").aget(client_id=client_id)
    assert edited.trigger and edited.trigger.text == "Who is this?"
    assert raw_parts(edited.trigger.wire)[0] == raw_parts(run.trigger.wire)[0]


async def test_an_image_of_the_model_is_shown_by_an_address_of_its_owners(
    runner: Runner, session: Session
) -> None:
    run = await send(runner, session, "/image please")
    answer = await Turn.objects.aget(run=run, kind=Turn.Kind.MODEL_RESPONSE)
    log = "".join([wire async for row in RunLog.objects.filter(run=run) for wire in row.wires])
    assert f"/s/{session.public}/media/{answer.public}/" in log and "base64" not in log
