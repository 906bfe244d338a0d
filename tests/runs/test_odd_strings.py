"""Strings of a provider that no database and no event takes: NUL and half an emoji, wherever they stand."""

import json
from collections.abc import Iterable
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, CacheRefusal, Exchange, Run, Session, ToolCall, Turn
from sessions_app.models.columns import storable, storable_json
from tests.factories import make_run, make_session
from tests.prompt.examples import call, text
from tests.runs.running import running, send, watch

ODD = "\0 \ud800"
"""What PostgreSQL refuses, and what has no form in UTF-8."""

Event = dict[str, Any]


def event(*parts: dict[str, Any], reason: str = "STOP", **more: Any) -> Event:
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": reason}
    return {"candidates": [candidate], **more}


class Odd(httpx2.AsyncBaseTransport):
    """Answers each request with the next event, or with an error as a status. Half an emoji is an escape."""

    def __init__(self, *answers: Event) -> None:
        self.answers = list(answers)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith(":streamGenerateContent"):
            return httpx2.Response(200, json={"totalTokens": 1})
        answer = self.answers.pop(0)
        if "status" in answer:
            return httpx2.Response(answer["status"], content=json.dumps(answer))
        return httpx2.Response(200, content=b"".join(_events(answer.get("stream", [answer]))))


def _events(answers: Iterable[Event]) -> Iterable[bytes]:
    return (b"data: %b\n\n" % json.dumps(one).encode() for one in answers)


async def answered(session: Session, *answers: Event) -> tuple[Run, list[Event]]:
    async with running(Gateway(api_key="k3y-of-a-test", transport=Odd(*answers))) as runner:
        public = await send(runner, session, "Go")
        events = await watch(runner, session, public)
        await runner.drain()
    return await Run.objects.aget(public=public), events


async def check_pages(client: AsyncClient, session: Session) -> None:
    await client.aforce_login(await sync_to_async(lambda: session.owner)())
    exchange = await Exchange.objects.select_related("session").alatest("number")
    for tab in ("", "response", "stream", "signatures", "cache", "pipeline"):
        where = exchange.get_absolute_url() if tab else session.get_absolute_url()
        page = await client.get(where, {"tab": tab})
        assert page.status_code == 200 and page.content.decode()


@pytest.mark.parametrize(
    "odd",
    [
        {"reason": f"NEW{ODD}"},
        {"modelVersion": f"gemini-x{ODD}"},
        {"responseId": ODD},
        {"usageMetadata": {"totalTokenCount": 1, ODD: ODD}},
        {"usageMetadata": {"totalTokenCount": 1, "promptTokensDetails": [{"modality": ODD}]}},
        {ODD: {ODD: [ODD]}},
        {"promptFeedback": {"blockReason": ODD}},
    ],
)
async def test_an_answer_beside_odd_strings_stands(
    session: Session, async_client: AsyncClient, odd: dict[str, Any]
) -> None:
    run, _ = await answered(session, event(text(f"All{ODD} of it."), **odd))
    turn = await Turn.objects.aget(run=run, kind=Turn.Kind.MODEL_RESPONSE)
    assert (run.status, turn.text) == (Run.Status.COMPLETED, "All \ufffd of it.")
    await check_pages(async_client, session)


async def test_a_call_of_an_odd_name_is_answered_like_any_unknown_one(
    session: Session, async_client: AsyncClient
) -> None:
    odd = {"functionCall": {"name": f"f{ODD}", "id": ODD, "args": {ODD: ODD}}}
    run, events = await answered(session, event(odd, call("current_time")), event(text("Done.")))
    assert run.status == Run.Status.COMPLETED
    assert [one["name"] for one in events if one["type"] == "call"] == ["f\0 \ufffd", "current_time"]
    failed = {one["index"]: one["failed"] for one in events if one["type"] == "result"}
    assert failed == {0: True, 1: False}
    await check_pages(async_client, session)


async def test_the_text_before_an_odd_error_is_kept(session: Session, async_client: AsyncClient) -> None:
    stream = [
        event(text("Half of"), reason=""),
        {"error": {"code": 503, "message": f"Down{ODD}.", "status": f"X{ODD}"}},
    ]
    run, _ = await answered(session, {"stream": stream})
    turn = await Turn.objects.aget(run=run, kind=Turn.Kind.MODEL_RESPONSE)
    assert (run.status, turn.text, turn.cut) == (Run.Status.FAILED, "Half of", True)
    assert (run.error["kind"], run.error["message"]) == ("ProviderDown", "Down \ufffd.")
    await check_pages(async_client, session)


async def test_an_odd_error_is_asked_again_like_any(session: Session) -> None:
    down = {"status": 503, "error": {"code": 503, "message": f"Down{ODD}. {ODD}", "status": ODD}}
    run, events = await answered(session, down, event(text("Here.")))
    assert run.status == Run.Status.COMPLETED
    assert any("Asking again" in one.get("text", "") for one in events)


async def test_a_reason_without_an_answer_is_told(session: Session) -> None:
    run, _ = await answered(session, event(reason=f"OUT{ODD}"))
    assert (run.status, run.error["figures"]) == (Run.Status.FAILED, {"finish_reason": "OUT \ufffd"})


class OddCaches(EmulatorTransport):
    """Refuses every cache with `said`."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(Emulator(delay=0))
        self.status, self.said = status, said
        self.asked = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST" or not request.url.path.endswith("/cachedContents"):
            return await super().handle_async_request(request)
        self.asked += 1
        error = {"code": self.status, "message": self.said, "status": "INVALID_ARGUMENT"}
        return httpx2.Response(self.status, content=json.dumps({"error": error}))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "Cached content is too small. total_token_count=9, min_total_token_count=90000"),
        (429, "Quota."),
        (400, "Some other reason."),
    ],
)
async def test_an_odd_refusal_of_a_cache_is_remembered(session: Session, status: int, said: str) -> None:
    settings = {"cache_mode": "explicit"}
    await Session.objects.filter(pk=session.pk).aupdate(settings=settings, purpose="Try it again. " * 2000)
    provider = OddCaches(status, said + ODD)
    async with running(Gateway.to_emulator(provider)) as runner:
        for message in ("One", "Two"):
            await send(runner, session, message)
            await runner.drain()
    entry = await CacheEntry.objects.aget()
    assert (entry.state, provider.asked) != (CacheEntry.State.PENDING, 2)
    told = [entry.said, *[one.said async for one in CacheRefusal.objects.all()]]
    assert set(told) == {f"{said} \ufffd"}


@pytest.mark.django_db
def test_an_odd_failure_of_a_tool_is_a_response(alice: User) -> None:
    run = make_run(make_session(alice))
    assert run.trigger is not None
    ToolCall.objects.begin(run.pk, run.trigger.pk, 0)
    ToolCall.objects.finish(run.trigger.pk, 0, {"error": ODD})
    stored = ToolCall.objects.get()
    assert stored.has_ended and stored.value == {"error": "\0 \ufffd"}


def test_what_is_stored_has_neither() -> None:
    values = {ODD: [ODD, {"a": f"{ODD}b"}]}
    assert storable_json(values) == {" \ufffd": [" \ufffd", {"a": " \ufffdb"}]}
    assert storable("ab\ud83d\ude00c", 3) == "ab😀"
