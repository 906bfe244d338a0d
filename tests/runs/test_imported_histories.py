"""Sessions that were imported from another program go on with a model that demands signatures."""

import json
import uuid
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from sessions_app.inspector.signature_trace import SignatureState
from sessions_app.inspector.tabs.signatures_tab import SignaturesTab
from sessions_app.models import Exchange, PersonalLimits, Run, Session
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.runs.runner import Runner
from sessions_app.wording import remarks
from tests.chat.import_formats.histories import gemini_contents, openai_messages
from tests.chat.importing import import_session

HISTORY: Any = [
    ("Check the flight.", [[("check_flight", {"flight": "AA100"}, {"status": "late"})]], "It is late."),
    ("Book a taxi.", [[("book_taxi", {}, {"booked": True}), ("check_flight", {}, {"a": 1})]], "Done."),
]
SIGNED = gemini_contents(HISTORY, is_signed=True, are_apart=True)
UNSIGNED = openai_messages(HISTORY, is_reversed=True)


async def imported(owner: User, file: Any, **settings: Any) -> Session:
    session = await sync_to_async(import_session)(owner, json.dumps(file).encode())
    await Session.objects.filter(pk=session.pk).aupdate(settings=session.settings | settings)
    return session


async def last_exchange(session: Session) -> Exchange:
    return await Exchange.objects.filter(session=session).order_by("number").alast()  # type: ignore[return-value]


async def send(runner: Runner, session: Session, text: str) -> Run:
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, text)
    await runner.drain()
    return await Run.objects.aget(client_id=client_id)


async def resume(runner: Runner, session: Session) -> Run:
    client_id, head = uuid.uuid4(), await session.turns.select_related("run").order_by("depth").alast()
    assert head is not None and head.run is not None
    await runner.resume(session.pk, client_id, head.run.public, head.public)
    await runner.drain()
    return await Run.objects.aget(client_id=client_id)


@pytest.mark.parametrize("file", [SIGNED, UNSIGNED], ids=["gemini", "openai"])
async def test_the_next_message_is_answered_under_the_strict_policy(
    session: Session, runner: Runner, alice: User, file: Any
) -> None:
    talk = await imported(alice, file, history_policy="strict")
    assert talk.model.startswith("gemini-3")
    run = await send(runner, talk, "And now?")
    assert run.status == Run.Status.COMPLETED, run.error


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (SIGNED, (RemarkCode.IMPORTED_CALL, "Imported with a signature of an unknown model and key")),
        (UNSIGNED, (RemarkCode.IMPORTED_UNSIGNED, "Imported without a signature")),
    ],
    ids=["gemini", "openai"],
)
async def test_calls_of_the_current_turn_get_the_dummy_and_the_passport_says_why(
    session: Session, runner: Runner, alice: User, file: Any, told: tuple[str, str]
) -> None:
    code, words = told
    talk = await imported(alice, file[:-1], history_policy="strict")
    run = await resume(runner, talk)
    assert run.status == Run.Status.COMPLETED, run.error
    exchange = await last_exchange(talk)
    noted = [Remark.model_validate(note) for note in exchange.notes]
    assert code in {remark.code for remark in noted}
    assert any(words in remarks.sentence(remark) for remark in noted)
    shown = await sync_to_async(SignaturesTab().read)(exchange, {})
    (dummy,) = [trace for trace in shown.sent if trace.state is SignatureState.DUMMY]
    assert words in dummy.explanation and not shown.alarms


async def test_a_broken_history_is_repaired_or_refused_as_the_session_says(
    session: Session, runner: Runner, alice: User
) -> None:
    await PersonalLimits.objects.acreate(everybody=True, sends_per_minute=1_000)
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    hello = {"role": "user", "parts": [{"text": "Hello"}]}
    broken = [hello, {"role": "model", "parts": [{"text": "Hi."}]}, call, hello]
    strict = await send(runner, await imported(alice, broken, history_policy="strict"), "Go on")
    assert strict.status == Run.Status.FAILED and not await strict.exchanges.aexists()
    mended = await imported(alice, broken)
    assert (await send(runner, mended, "Go on")).status == Run.Status.COMPLETED
    codes = {note["code"] for note in (await last_exchange(mended)).notes}
    assert {RemarkCode.CALL_UNANSWERED, RemarkCode.MESSAGE_INSERTED} <= codes
