"""httpx2's client without what no gateway uses and what takes longer than sending.

Those are redirects, cookies, sign-ins and an address of its own.
"""

from functools import lru_cache
from typing import Any

import httpx2


class PlainClient(httpx2.AsyncClient):
    """The SDK's client of one gateway; sends what it is given through the transport.

    What asks for more than a method, an address, headers and bytes is built as httpx2 does.
    """

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        super().__init__(transport=transport, trust_env=False, follow_redirects=False)
        self._straight = transport
        self._own_headers = [(name.decode(), value.decode()) for name, value in self.headers.raw]

    def build_request(self, method: str, url: httpx2.URL | str, **given: Any) -> httpx2.Request:
        headers, content = given.get("headers"), given.get("content")
        is_plain = given.keys() <= {"headers", "content", "timeout"} and isinstance(url, str)
        if not is_plain or not isinstance(headers, dict):
            return super().build_request(method, url, **given)
        named = {name.lower() for name in headers}
        own = [(name, value) for name, value in self._own_headers if name.lower() not in named]
        extensions = {"timeout": httpx2.Timeout(given.get("timeout")).as_dict()}
        sent = [*own, *headers.items()]
        return httpx2.Request(method, _parsed(str(url)), headers=sent, content=content, extensions=extensions)

    async def send(self, request: httpx2.Request, *, stream: bool = False, **given: Any) -> httpx2.Response:
        """What is `given` about redirects and sign-ins changes nothing."""
        if self.is_closed:
            raise RuntimeError("The client has been closed.")
        try:
            response = await self._straight.handle_async_request(request)
        except httpx2.RequestError as error:
            error.request = request
            raise
        response.request = request
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response


@lru_cache(maxsize=64)
def _parsed(url: str) -> httpx2.URL:
    return httpx2.URL(url)
