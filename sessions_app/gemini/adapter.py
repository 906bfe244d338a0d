"""The one seam into google-genai: post prepared bytes, get the open response.

The SDK's own path rebuilds every content with pydantic before it sends (0.2 to 0.4 ms per content, on the
event loop) and parses every chunk into models (150 µs); stored wire JSON needs neither (performance.md
§1, §4). Two seams do the same:

DirectSeam  two private methods of the SDK's client, checked by `drift_of` when the gateway is made.
PublicSeam  `generate_content_stream` and `count_tokens`, whose body and answer GatewayTransport
            diverts. It costs about a millisecond per request and takes over when the SDK has changed.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import httpx2
import structlog
from google import genai
from google.genai import types

from sessions_app.errors import BrokenStream
from sessions_app.gemini.transport import DIVERSION, Diversion

log = structlog.get_logger("pipeweb.gemini")

STREAM = "streamGenerateContent"
COUNT = "countTokens"

_PRIVATE_SIGNATURES = {
    "_build_request": ["http_method", "path", "request_dict", "http_options"],
    "_async_request": ["http_request", "http_options", "stream"],
}


class Seam(Protocol):
    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        """The response with its stream open and unread; the caller closes it.

        `model` is a full name (`models/…`), `verb` STREAM or COUNT, `body` goes out as it is. Raises
        what the SDK and the transport raise, APIError for every status but 200.
        """


class DirectSeam:
    def __init__(self, client: genai.Client) -> None:
        self._api: Any = client._api_client

    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        query = "?alt=sse" if verb == STREAM else ""
        request = self._api._build_request("post", f"{model}:{verb}{query}", {}, None)
        request.data = body
        answer = await self._api._async_request(request, None, stream=True)
        return _open_response(answer.response_stream)


class PublicSeam:
    def __init__(self, client: genai.Client) -> None:
        self._models = client.aio.models
        self._verbs: dict[str, Callable[[str], Awaitable[None]]] = {
            STREAM: self._stream,
            COUNT: self._count,
        }

    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        diversion = Diversion(body)
        token = DIVERSION.set(diversion)
        try:
            await self._verbs[verb](model)
        except BaseException:
            if diversion.response is not None:
                await diversion.response.aclose()
            raise
        finally:
            DIVERSION.reset(token)
        return _open_response(diversion.response)

    async def _stream(self, model: str) -> None:
        config = types.GenerateContentConfig(
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
        )
        async for _ in await self._models.generate_content_stream(model=model, contents="-", config=config):
            pass

    async def _count(self, model: str) -> None:
        await self._models.count_tokens(model=model, contents="-")


def open_seam(client: genai.Client) -> Seam:
    drift = drift_of(client)
    if drift:
        log.warning("sdk_changed", drift=drift, seam="public")
    return PublicSeam(client) if drift else DirectSeam(client)


def drift_of(client: genai.Client) -> str:
    """How the SDK differs from what DirectSeam relies on; empty when it does not. Sends nothing."""
    api: Any = getattr(client, "_api_client", None)
    for name, expected in _PRIVATE_SIGNATURES.items():
        method = getattr(api, name, None)
        found = list(inspect.signature(method).parameters) if callable(method) else None
        if found != expected:
            return f"google-genai: _api_client.{name} takes {found}, expected {expected}"
    return _drift_of_request(api)


def _drift_of_request(api: Any) -> str:
    request = api._build_request("post", f"models/m:{STREAM}?alt=sse", {}, None)
    found = {name for name in ("data", "headers", "method", "url") if hasattr(request, name)}
    if len(found) < 4 or not request.url.endswith(f"/models/m:{STREAM}?alt=sse"):
        return f"google-genai: _build_request returns {type(request).__name__} with {sorted(found)}"
    return ""


def _open_response(response: object) -> httpx2.Response:
    if not isinstance(response, httpx2.Response):
        raise BrokenStream(f"google-genai returned {type(response).__name__} in place of a response.")
    return response
