"""The two yardsticks: a bare HTTP client and the SDK alone, reading the same streams with no server between.

`python -m sessions_app.bench.direct raw|sdk URL` reads a Load on stdin and writes a Sample; its own CPU and
memory are the figures.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable

import httpx2

from sessions_app.bench.load import LOADS, SAMPLES, Load, Sample, Watch, merged
from sessions_app.bench.meters import cpu_seconds, resident_bytes
from sessions_app.bench.upstream import STAMP

MODEL = "gemini-3-flash-preview"
LIMITS = httpx2.Limits(max_connections=None)
"""By default the 101st stream waits in silence."""

WARM_UP = "Answer in chunks=2 pace=1"

Ask = Callable[[str], AsyncIterator[str]]
"""A message → the texts of its answer as they come."""


def raw(url: str) -> Ask:
    client = httpx2.AsyncClient(limits=LIMITS, trust_env=False, timeout=None)

    async def ask(message: str) -> AsyncIterator[str]:
        body = {"contents": [{"role": "user", "parts": [{"text": message}]}]}
        path = f"{url}/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
        async with client.stream("POST", path, content=json.dumps(body)) as response:
            async for line in response.aiter_lines():
                if line:
                    yield json.loads(line[5:])["candidates"][0]["content"]["parts"][0]["text"]

    return ask


def sdk(url: str) -> Ask:
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=url, async_client_args={"limits": LIMITS, "trust_env": False})
    client = genai.Client(api_key="bench", vertexai=False, http_options=options)

    async def ask(message: str) -> AsyncIterator[str]:
        async for chunk in await client.aio.models.generate_content_stream(model=MODEL, contents=message):
            parts = chunk.candidates and chunk.candidates[0].content and chunk.candidates[0].content.parts
            yield (parts[0].text or "") if parts else ""

    return ask


CLIENTS = {"raw": raw, "sdk": sdk}


async def measure(ask: Ask, load: Load) -> Sample:
    async for _ in ask(WARM_UP):
        pass
    watches = [Watch(load.chunks) for _ in range(load.streams)]
    begin = cpu_seconds(os.getpid())
    async with asyncio.TaskGroup() as streams:
        for number, watch in enumerate(watches):
            streams.create_task(_stream(ask, load, watch, load.start_of(number)))
    return merged(watches, cpu_seconds(os.getpid()) - begin, resident_bytes(os.getpid()))


async def _stream(ask: Ask, load: Load, watch: Watch, delay: float) -> None:
    await asyncio.sleep(delay)
    for _ in range(load.turns):
        watch.ask(time.monotonic_ns())
        async for text in ask(load.message):
            if stamp := STAMP.match(text.encode()):
                watch.read(int(stamp[1]), time.monotonic_ns())
        watch.end()


def main(client: str, url: str) -> None:
    load = LOADS.validate_json(sys.stdin.buffer.read())
    sample = asyncio.run(measure(CLIENTS[client](url), load))
    sys.stdout.buffer.write(SAMPLES.dump_json(sample))


if __name__ == "__main__":
    main(*sys.argv[1:])
