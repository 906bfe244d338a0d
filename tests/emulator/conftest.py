from collections.abc import AsyncIterator

import httpx2
import pytest
from google import genai
from google.genai import types

from sessions_app.emulator import Emulator, EmulatorTransport


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(delay=0, slow_delay=0.02)


@pytest.fixture
async def sdk(emulator: Emulator) -> AsyncIterator[genai.client.AsyncClient]:
    """The real SDK over the in-process transport."""
    arguments = {"transport": EmulatorTransport(emulator)}
    options = types.HttpOptions(api_version="v1beta", async_client_args=arguments)
    made = genai.Client(api_key="emulator", vertexai=False, http_options=options)
    yield made.aio
    await made.aio.aclose()


@pytest.fixture
async def http(emulator: Emulator) -> AsyncIterator[httpx2.AsyncClient]:
    transport, headers = EmulatorTransport(emulator), {"x-goog-api-key": "emulator"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://emulator.test", headers=headers
    ) as client:
        yield client
