"""A signed-in browser without a screen: pages, and forms that carry a CSRF token."""

import secrets
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import httpx2

from tests.bench.relay_pipeweb import Seat

FORM = "application/x-www-form-urlencoded"
HTMX = {"HX-Request": "true"}
ACCEPTED_HEADER = "HX-Redirect"


class Browser:
    """`patience` is seconds; a page that takes longer raises httpx2.TimeoutException."""

    def __init__(self, port: int, seat: Seat, patience: float) -> None:
        token = secrets.token_hex(16)
        self._client = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Cookie": f"{seat.cookie}; pipeweb_csrf={token}", "X-CSRFToken": token},
            timeout=patience,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def get(self, path: str) -> int:
        """The status code."""
        return (await self._client.get(path)).status_code

    async def post(self, path: str, content: bytes | AsyncIterator[bytes], kind: str = FORM) -> int:
        """The status code."""
        return (await self._post(path, content, {"Content-Type": kind})).status_code

    async def submit(self, path: str, content: bytes, kind: str) -> bool:
        """Whether the page sends the person on; it stays where it is to say what was refused."""
        response = await self._post(path, content, {"Content-Type": kind} | HTMX)
        return ACCEPTED_HEADER in response.headers

    async def _post(
        self, path: str, content: bytes | AsyncIterator[bytes], headers: dict[str, str]
    ) -> httpx2.Response:
        return await self._client.post(path, content=content, headers=headers)


def multipart(name: str, body: bytes) -> tuple[bytes, str]:
    """A form with one file; the body and its content type."""
    edge = secrets.token_hex(16)
    head = (
        f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode() + body + f"\r\n--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"
