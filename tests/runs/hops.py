"""A provider that pauses answers, and a run that goes on with each hop."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx2
import orjson

from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Exchange, Run, Session, Turn
from tests.prompt.examples import chunk
from tests.runs.running import running, send, watch

TOKEN = "YS9i+w=="
USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}


def paused(*parts: dict[str, Any], token: str = TOKEN) -> bytes:
    return chunk(*parts, finishReason="CONTINUATION", continuationToken=token)


def done(*parts: dict[str, Any]) -> bytes:
    return chunk(*parts, finishReason="STOP")


class Hops(httpx2.AsyncBaseTransport):
    """Answers each request with the next hop: its chunks, or an error status. Keeps the requests.

    A hop that ends with None stays open after its chunks.
    """

    def __init__(self, *hops: Any) -> None:
        self.hops = list(hops)
        self.bodies: list[dict[str, Any]] = []
        self.stalled = asyncio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith((":streamGenerateContent", "/chat/completions")):
            return httpx2.Response(200, json={"totalTokens": 1})
        self.bodies.append(orjson.loads(await request.aread()))
        hop = self.hops.pop(0)
        if isinstance(hop, int):
            return httpx2.Response(
                hop, json={"error": {"code": hop, "message": "No.", "status": "UNAVAILABLE"}}
            )
        return httpx2.Response(200, content=self._stream(hop))

    async def _stream(self, hop: Sequence[bytes | None]) -> AsyncIterator[bytes]:
        for body in hop:
            if body is None:
                self.stalled.set()
                await asyncio.sleep(30)
            else:
                event = orjson.loads(body)
                usage = {"usageMetadata": USAGE} if "object" not in event else {}
                yield b"data: " + orjson.dumps(usage | event) + b"\n\n"


async def answer(
    session: Session, *hops: Any, message: str = "Go", gateway: type[Gateway] = Gateway, **settings: Any
) -> tuple[Run, Hops, list[dict[str, Any]]]:
    """A run before these hops: its row, the requests, and the events of a viewer."""
    if settings:
        await Session.objects.filter(pk=session.pk).aupdate(settings={**session.settings, **settings})
    provider = Hops(*hops)
    async with running(gateway(api_key="k3y-of-a-test", transport=provider)) as runner:
        public = await send(runner, session, message)
        events = await watch(runner, session, public)
        await runner.drain()
    return await Run.objects.aget(public=public), provider, events


async def turns_of(session: Session) -> list[Turn]:
    rows = Turn.objects.filter(session=session).select_related("content").order_by("depth")
    return [turn async for turn in rows]


async def exchanges_of(session: Session) -> list[Exchange]:
    return [
        one async for one in Exchange.objects.filter(session=session).select_related("continues", "session")
    ]
