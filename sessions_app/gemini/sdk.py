"""Sending prepared bytes through google-genai: the senders, and the transport below them.

The SDK's own path rebuilds every content with pydantic before it sends (0.2 to 0.4 ms per content, on the
event loop) and parses every chunk into models (150 µs). Stored wire JSON needs neither, so a sender posts
the bytes as they are and returns the open response:

PrivateSender  calls two private methods of the SDK's client. `sdk_changes` checks them when the gateway
               is made.
PublicSender   calls `generate_content_stream` and `count_tokens`; GatewayTransport replaces the body on
               its way and keeps the response from the SDK. It costs about a millisecond per request and is
               used when the SDK has changed.
"""

import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2
import structlog
from google import genai
from google.genai import types

from sessions_app.errors import BrokenStream
from sessions_app.gemini.bounds import bounded
from sessions_app.gemini.http_evidence import EVIDENCE
from sessions_app.gemini.network import NetworkTransport

log = structlog.get_logger("pipeweb.gemini")

STREAM = "streamGenerateContent"
COUNT = "countTokens"

_PRIVATE_SIGNATURES = {
    "_build_request": ["http_method", "path", "request_dict", "http_options"],
    "_async_request_once": ["http_request", "stream", "implicit_retry"],
}

TIMEOUT = httpx2.Timeout(connect=10.0, write=60.0, read=600.0, pool=None)
"""Seconds. `read` is the longest silence between two packets, not the length of an answer: a model
that thinks without showing its thoughts sends nothing for minutes."""


class RequestSender(Protocol):
    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        """The response with its stream open and unread; the caller closes it.

        `model` is a full name (`models/…`), `verb` STREAM or COUNT, `body` goes out as it is. Raises
        what the SDK and the transport raise, APIError for every status but 200.
        """


class PrivateSender:
    def __init__(self, client: genai.Client) -> None:
        self._api: Any = client._api_client

    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        query = "?alt=sse" if verb == STREAM else ""
        request = self._api._build_request("post", f"{model}:{verb}{query}", {}, None)
        request.data = body
        # Around this one the SDK asks again where it is told to, which it is not (`runs/retry_policy`).
        answer = await self._api._async_request_once(request, stream=True)
        return _open_response(answer.response_stream)


class PublicSender:
    def __init__(self, client: genai.Client) -> None:
        self._models = client.aio.models
        self._verbs: dict[str, Callable[[str], Awaitable[None]]] = {
            STREAM: self._stream,
            COUNT: self._count,
        }

    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        interception = Interception(body)
        token = INTERCEPTION.set(interception)
        try:
            await self._verbs[verb](model)
        except BaseException:
            if interception.response is not None:
                await interception.response.aclose()
            raise
        finally:
            INTERCEPTION.reset(token)
        return _open_response(interception.response)

    async def _stream(self, model: str) -> None:
        config = types.GenerateContentConfig(
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
        )
        async for _ in await self._models.generate_content_stream(model=model, contents="-", config=config):
            pass

    async def _count(self, model: str) -> None:
        await self._models.count_tokens(model=model, contents="-")


def sender_for(client: genai.Client) -> RequestSender:
    changes = sdk_changes(client)
    if changes:
        log.warning("sdk_changed", changes=changes, sender="public")
    return PublicSender(client) if changes else PrivateSender(client)


def sdk_changes(client: genai.Client) -> str:
    """How the SDK differs from what PrivateSender relies on; empty when it does not. Sends nothing."""
    api: Any = getattr(client, "_api_client", None)
    for name, expected in _PRIVATE_SIGNATURES.items():
        method = getattr(api, name, None)
        found = list(inspect.signature(method).parameters) if callable(method) else None
        if found != expected:
            return f"google-genai: _api_client.{name} takes {found}, expected {expected}"
    return _request_changes(api)


def _request_changes(api: Any) -> str:
    request = api._build_request("post", f"models/m:{STREAM}?alt=sse", {}, None)
    found = {name for name in ("data", "headers", "method", "url") if hasattr(request, name)}
    if len(found) < 4 or not request.url.endswith(f"/models/m:{STREAM}?alt=sse"):
        return f"google-genai: _build_request returns {type(request).__name__} with {sorted(found)}"
    return ""


def _open_response(response: object) -> httpx2.Response:
    if not isinstance(response, httpx2.Response):
        raise BrokenStream(f"google-genai returned {type(response).__name__} in place of a response.")
    return response


@dataclass(slots=True)
class Interception:
    """A request whose body the transport replaces, and whose response the SDK does not get."""

    body: bytes
    response: httpx2.Response | None = None


INTERCEPTION: ContextVar[Interception | None] = ContextVar("gateway_interception", default=None)


class GatewayTransport(httpx2.AsyncBaseTransport):
    """Wraps the transport that really sends. Asks for no compression, bounds what comes back, and tells
    the exchange's evidence of it.

    The SDK asks for no time-out at all unless `HttpOptions.timeout` is set, and that one also tells
    the server to give up (`X-Server-Timeout`); so the time-outs are set here.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._inner = inner or NetworkTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        extensions = {**request.extensions, "timeout": TIMEOUT.as_dict()}
        interception = INTERCEPTION.get()
        if interception is None:
            request.extensions = extensions
            return await self._send(request)
        return await self._intercept(_with_body(request, interception.body, extensions), interception)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        evidence = EVIDENCE.get()
        if evidence is None:
            return await bounded(request, await self._inner.handle_async_request(request))
        attempt = evidence.begin(request)
        response = await self._inner.handle_async_request(request)
        attempt.answered(response)
        return await bounded(request, response, attempt.keep)

    async def _intercept(self, request: httpx2.Request, interception: Interception) -> httpx2.Response:
        response = await self._send(request)
        if response.status_code != 200:
            return response
        response.request = request
        interception.response = response
        return httpx2.Response(200, json={})


def _with_body(request: httpx2.Request, body: bytes, extensions: dict[str, Any]) -> httpx2.Request:
    framing = ("content-length", "transfer-encoding")
    headers = [(name, value) for name, value in request.headers.items() if name not in framing]
    return httpx2.Request(request.method, request.url, headers=headers, content=body, extensions=extensions)
