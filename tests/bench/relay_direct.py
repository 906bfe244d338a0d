"""The baselines of `bench relay`: a bare HTTP client, and the SDK alone, with no server between.

`transport` is the SDK without its models: the bytes of the answer, each event parsed as JSON.
`python -m tests.bench.relay_direct raw|transport|sdk URL` reads a Load on stdin and writes a LoadResult; its
own CPU and memory are the figures.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2

from tests.bench.fake_upstream import STAMP
from tests.bench.processes import run_module
from tests.bench.relay_load import LOADS, RESULTS, Load, LoadResult, StreamTimer, run_load

if TYPE_CHECKING:
    from google import genai

MODEL = "gemini-3-flash-preview"
LIMITS = httpx2.Limits(max_connections=None)
"""By default the 101st stream waits in silence."""

WARM_UP = "Answer in chunks=2 pace=1"

Ask = Callable[[str], AsyncIterator[str]]
"""A message → the texts of its answer as they come."""


class DirectClient:
    """A client that reads the upstream itself, in a process of its own: `raw`, `transport` or `sdk`."""

    def __init__(self, name: str, client: str, upstream: str) -> None:
        self.name = name
        self._arguments = (client, upstream)

    def measure(self, load: Load) -> LoadResult:
        given = LOADS.dump_json(load)
        return RESULTS.validate_json(
            run_module("relay_direct", *self._arguments, given=given, limit=load.limit)
        )


def request_for(url: str, message: str) -> tuple[str, str]:
    """The address and the body of a request to the upstream at `url`."""
    body = {"contents": [{"role": "user", "parts": [{"text": message}]}]}
    return f"{url}/v1beta/models/{MODEL}:streamGenerateContent?alt=sse", json.dumps(body)


def raw(url: str) -> Ask:
    client = httpx2.AsyncClient(limits=LIMITS, trust_env=False, timeout=None)

    async def ask(message: str) -> AsyncIterator[str]:
        path, body = request_for(url, message)
        async with client.stream("POST", path, content=body) as response:
            async for line in response.aiter_lines():
                if line:
                    yield json.loads(line[5:])["candidates"][0]["content"]["parts"][0]["text"]

    return ask


def client_at(url: str) -> "genai.Client":
    from google import genai
    from google.genai import types

    # Without a transport the SDK would take aiohttp, where it is installed.
    transport = httpx2.AsyncHTTPTransport(limits=LIMITS, trust_env=False)
    options = types.HttpOptions(
        base_url=url, api_version="v1beta", async_client_args={"transport": transport}
    )
    return genai.Client(api_key="bench", vertexai=False, http_options=options)


def transport(url: str) -> Ask:
    api: Any = client_at(url)._api_client

    async def ask(message: str) -> AsyncIterator[str]:
        request = api._build_request("post", f"models/{MODEL}:streamGenerateContent?alt=sse", {}, None)
        request.data = request_for(url, message)[1].encode()
        response = (await api._async_request(request, None, stream=True)).response_stream
        async for line in response.aiter_lines():
            if line:
                yield json.loads(line[5:])["candidates"][0]["content"]["parts"][0]["text"]

    return ask


def sdk(url: str) -> Ask:
    client = client_at(url)

    async def ask(message: str) -> AsyncIterator[str]:
        async for chunk in await client.aio.models.generate_content_stream(model=MODEL, contents=message):
            parts = chunk.candidates and chunk.candidates[0].content and chunk.candidates[0].content.parts
            yield (parts[0].text or "") if parts else ""

    return ask


CLIENTS = {"raw": raw, "transport": transport, "sdk": sdk}


async def measure(ask: Ask, load: Load) -> LoadResult:
    async for _ in ask(WARM_UP):
        pass
    timers = [StreamTimer(load.chunks) for _ in range(load.streams)]
    return await run_load(
        load, [os.getpid()], [(timer, partial(read_answer, ask, load, timer)) for timer in timers]
    )


async def read_answer(ask: Ask, load: Load, timer: StreamTimer) -> None:
    async for text in ask(load.message):
        if stamp := STAMP.match(text.encode()):
            timer.read(int(stamp[1]), time.monotonic_ns())
    timer.end()


def main(client: str, url: str) -> None:
    load = LOADS.validate_json(sys.stdin.buffer.read())
    result = asyncio.run(measure(CLIENTS[client](url), load))
    sys.stdout.buffer.write(RESULTS.dump_json(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
