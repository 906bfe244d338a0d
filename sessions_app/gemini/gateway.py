"""Sends prepared bytes to a model through one google-genai client and returns raw chunks.

One Gateway per process, used by one event loop, to which its connections belong. Every failure is raised as
a GatewayError (`error_mapping`), without the API key.
"""

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import perf_counter
from typing import Literal, Self

import httpx2
import orjson
from google import genai
from google.genai import types
from google.genai.client import DebugConfig

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import PromptError, UnknownModel
from sessions_app.gemini.api_keys import checked_key
from sessions_app.gemini.error_mapping import MODEL_HINT, translated
from sessions_app.gemini.event_stream import StreamChunk, read_chunks, read_event
from sessions_app.gemini.http_evidence import HttpEvidence
from sessions_app.gemini.plain_client import PlainClient
from sessions_app.gemini.provider_resources import (
    CacheCreated,
    CacheListed,
    ModelListed,
    ProviderFile,
    cache_created,
    cache_listed,
    file_name,
    model_listed,
    upload,
)
from sessions_app.gemini.routes import route_of
from sessions_app.gemini.sdk import COUNT, STREAM, GatewayTransport, sender_for
from sessions_app.hosts import EMULATOR, GOOGLE, host_of

API_VERSION = "v1beta"
"""Pinned: the SDK's default is v1, while caches and signatures are documented on v1beta."""

_MODEL_NAME = re.compile(r"(models/|tunedModels/)?[A-Za-z0-9][A-Za-z0-9._-]*")


class Gateway:
    """A provider, or the emulator in its place.

    `label` is its name on the pages, `route` (16 hex digits of base URL and key) identifies the endpoint
    whose signatures and caches are valid here. `transport` replaces the network (`gemini.outbound`);
    without it the gateway has a NetworkTransport. The SDK's own use of aiohttp and proxy variables change
    nothing.

    Raises SettingsError when the key cannot be one.
    """

    has_explicit_caches = True
    """Whether the endpoint has explicit caches; whether the model has them is another fact."""

    dialect: Literal["gemini", "openai"] = "gemini"
    """The form in which a prepared body travels."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str = GOOGLE,
        is_emulator: bool = False,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        key = checked_key(api_key)
        self._secret = "" if is_emulator else key
        self.base_url = base_url.rstrip("/")
        self.label = host_of(base_url)
        self.is_emulator = is_emulator
        self.route = route_of(self.base_url, key)
        self._plain_client = PlainClient(GatewayTransport(transport))
        self._client = _client(key, self.base_url, self._plain_client)
        self._sender = sender_for(self._client)

    @classmethod
    def to_emulator(cls, transport: httpx2.AsyncBaseTransport) -> Self:
        """The emulator in this process; its route is the same after every restart."""
        return cls(api_key="emulator", base_url=EMULATOR, is_emulator=True, transport=transport)

    def __repr__(self) -> str:
        return f"<Gateway {self.label!r} {self.route}>"

    @asynccontextmanager
    async def stream(
        self, model: str, body: bytes, evidence: HttpEvidence | None = None
    ) -> AsyncIterator[AsyncIterator[StreamChunk]]:
        """Sends `body` as it is and reads the answer chunk by chunk. `evidence` is told of each attempt.

        An error status raises on entry, an error inside the stream at its chunk. Leaving closes the
        connection to the provider at once, whatever the caller was waiting for. A stream that ends
        without finishReason ends here quietly: folding the chunks decides what that means.
        """
        name = full_name(model)
        evidence = evidence or HttpEvidence()
        evidence.secret = self._secret
        started = perf_counter()
        with translated(self._secret), evidence.recording():
            response = await self._sender.post(name, STREAM, body)
        chunks = read_chunks(response, started, self._secret, evidence.keep)
        try:
            yield chunks
        finally:
            evidence.end()
            await _close(response, chunks)

    def wire_body(self, model: str, body: bytes) -> bytes:
        """The bytes that `stream` sends for this prepared body."""
        return body

    async def count_tokens(self, model: str, body: bytes) -> int:
        """Tokens of a generateContent body, including tools and system instruction."""
        name = full_name(model)
        with translated(self._secret):
            response = await self._sender.post(name, COUNT, _count_body(name, body))
            try:
                answer = await response.aread()
            finally:
                await response.aclose()
            return int(read_event(answer, self._secret).get("totalTokens", 0))

    async def create_cache(
        self, *, model: str, contents_and_tools: bytes, ttl_seconds: int, display_name: str
    ) -> CacheCreated:
        """An explicit cache of `contents_and_tools`, a JSON object of wire fields (`contents`, `tools`).

        Raises CacheTooSmall below the provider's minimum, QuotaExceeded on a free tier.
        """
        config = types.CreateCachedContentConfig(
            ttl=f"{ttl_seconds}s",
            display_name=display_name,
            http_options=types.HttpOptions(extra_body=orjson.loads(contents_and_tools)),
        )
        with translated(self._secret):
            return cache_created(await self._client.aio.caches.create(model=full_name(model), config=config))

    async def list_caches(self) -> tuple[CacheListed, ...]:
        """Every cache of this key's project, other deployments' included."""
        with translated(self._secret):
            caches = await self._client.aio.caches.list(config={"page_size": 1000})
            return tuple([cache_listed(cache) async for cache in caches])

    async def extend_cache(self, name: str, ttl_seconds: int) -> CacheCreated:
        """Moves the expiry to `ttl_seconds` from now. Raises CacheGone when it has expired already."""
        config = types.UpdateCachedContentConfig(ttl=f"{ttl_seconds}s")
        with translated(self._secret):
            return cache_created(await self._client.aio.caches.update(name=name, config=config))

    async def delete_cache(self, name: str) -> None:
        """Raises CacheGone when there is nothing to delete."""
        with translated(self._secret):
            await self._client.aio.caches.delete(name=name)

    async def upload_file(self, body: bytes, *, mime: str, name: str) -> ProviderFile:
        """Uploads a file for two days and waits until it can be asked about."""
        with translated(self._secret):
            return await upload(self._client.aio, body, mime=mime, name=name)

    async def delete_file(self, uri: str) -> None:
        """Raises BadRequest when there is nothing to delete."""
        with translated(self._secret):
            await self._client.aio.files.delete(name=file_name(uri))

    async def models(self) -> tuple[ModelListed, ...]:
        with translated(self._secret):
            models = await self._client.aio.models.list(config={"page_size": 1000})
            return tuple([model_listed(model) async for model in models])

    async def aclose(self) -> None:
        """Closes every connection, open streams included."""
        await self._client.aio.aclose()
        self._client.close()
        await self._plain_client.aclose()


def full_name(model: str) -> str:
    """`gemini-x` → `models/gemini-x`. Raises UnknownModel where the name cannot stand in a path."""
    if not _MODEL_NAME.fullmatch(model):
        raise UnknownModel(f"{model!r} is not the name of a model.", hint=MODEL_HINT)
    return model if "/" in model else f"models/{model}"


async def _close(response: httpx2.Response, chunks: AsyncGenerator[StreamChunk, None]) -> None:
    """The connection first: a generator that another task is waiting on refuses to be closed."""
    with suppress(httpx2.HTTPError):
        await response.aclose()
    with suppress(RuntimeError):
        await chunks.aclose()


def _client(api_key: str, base_url: str, http: PlainClient) -> genai.Client:
    """Passes everything that the SDK would otherwise read from the environment.

    The SDK's own client follows redirects, and its header with the key would go along to any host. Neither it
    nor WebSockets are used: they trust nobody, since to read whom they trust takes 20 ms each.
    """
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return genai.Client(
        api_key=api_key,
        vertexai=False,
        debug_config=DebugConfig(client_mode="", replays_directory="", replay_id=""),
        http_options=types.HttpOptions(
            api_version=API_VERSION,
            base_url=base_url,
            client_args={"trust_env": False, "follow_redirects": False, "verify": nobody},
            async_client_args={"ssl": nobody},
            httpx_async_client=http,
        ),
    )


def _count_body(model: str, body: bytes) -> bytes:
    fields = body.strip()[1:]
    if fields in (b"", b"}"):
        raise PromptError(RefusalCode.EMPTY_BODY)
    return b'{"generateContentRequest":{"model":"%b",%b}' % (model.encode(), fields)
