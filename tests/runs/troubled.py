"""The emulator behind a network that can fail."""

import asyncio
from collections.abc import AsyncIterator

import httpx2

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.emulator.faults import HEADER


class TroubledTransport(EmulatorTransport):
    """Asks the emulator for `fault`, until it is emptied, and keeps the read time-out as a socket would."""

    def __init__(self) -> None:
        super().__init__(Emulator(delay=0))
        self.fault = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.fault:
            request.headers[HEADER] = self.fault
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Patient(response.stream, request.extensions["timeout"]["read"])
        return response


class _Patient(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, read: float) -> None:
        self._inner = inner
        self._read = read

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._inner)
        while True:
            try:
                async with asyncio.timeout(self._read):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise httpx2.ReadTimeout("") from None
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
