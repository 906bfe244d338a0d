"""Where relayed requests go, and how: the interface of a client, and the one over a transport of httpx2."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sessions_app.capture.headers import Pair
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it goes out. `url` is complete; `body` is all of it, or its pieces as they come."""

    method: str
    url: str
    headers: Sequence[Pair]
    body: bytes | AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Answer:
    """`pieces` are the bytes as they arrive, without the transfer coding, packed where they came packed."""

    status: int
    headers: Sequence[Pair]
    pieces: AsyncIterator[bytes]


class UpstreamClient(Protocol):
    """Sends once: no retries, redirects or cookies. It adds no header but the Host."""

    def ask(self, asked: Asked) -> AbstractAsyncContextManager[Answer]:
        """The end of the block closes the request. Raises RelayRefused, also from the pieces."""

    async def close(self) -> None: ...


class Upstream(NamedTuple):
    """`base` is fixed, never named by a request."""

    base: str
    client: UpstreamClient


class TransportClient:
    """Calls the emulator of this process, or the provider through a proxy.

    `times` are seconds of waiting, by httpx2's names of what is waited for; what is not named has no limit.
    """

    def __init__(
        self, transport: "httpx2.AsyncBaseTransport", times: Mapping[str, float] | None = None
    ) -> None:
        self._transport = transport
        self._extensions = {"timeout": dict(times or {})}

    @asynccontextmanager
    async def ask(self, asked: Asked) -> AsyncIterator[Answer]:
        import httpx2

        request = httpx2.Request(
            asked.method,
            asked.url,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in asked.headers],
            content=asked.body or None,
            extensions=self._extensions,
        )
        try:
            response = await self._transport.handle_async_request(request)
        except httpx2.ReadTimeout as error:
            raise RelayRefused(CaptureFault.NO_ANSWER) from error
        except (httpx2.ReadError, httpx2.WriteError, httpx2.CloseError, httpx2.RemoteProtocolError) as error:
            raise RelayRefused(CaptureFault.NOT_ANSWERED) from error
        except httpx2.TransportError as error:
            raise RelayRefused(CaptureFault.NOT_REACHED) from error
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
        try:
            yield Answer(response.status_code, headers, aiter(response.stream))  # type: ignore[arg-type]
        except httpx2.ReadTimeout as error:
            raise RelayRefused(CaptureFault.NO_ANSWER) from error
        except httpx2.TransportError as error:
            raise RelayRefused(CaptureFault.BROKEN_OFF) from error
        finally:
            await response.aclose()

    async def close(self) -> None:
        await self._transport.aclose()
