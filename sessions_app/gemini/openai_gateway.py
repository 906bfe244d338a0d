"""A Gateway to the provider's OpenAI-compatible endpoint.

It takes the same prepared Gemini body and translates it into a chat completion. Chunks are returned as they
arrive; the fold reads both formats
(`prompt.dialects.openai_chunks`). Errors come as a list of one Gemini error object (gemini-wire §6, 9).
"""

import httpx2
import orjson

from sessions_app.errors import BadRequest
from sessions_app.gemini.error_mapping import error_of_answer
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.provider_resources import CacheCreated, CacheListed, ProviderFile
from sessions_app.gemini.routes import route_of
from sessions_app.gemini.sdk import STREAM, GatewayTransport, RequestSender
from sessions_app.hosts import GOOGLE
from sessions_app.prompt.dialects.openai import openai_request

LABEL_SUFFIX = "(OpenAI-compatible)"
"""Ends the label of such a gateway."""

PATH = "/v1beta/openai"
"""Under the provider's base URL."""


class OpenAISender:
    """Streams go to `url` + `/chat/completions` with the key as bearer token, all else the native way."""

    def __init__(self, client: httpx2.AsyncClient, url: str, native: RequestSender, secret: str) -> None:
        self._client = client
        self._url = f"{url}/chat/completions"
        self._native = native
        self._secret = secret

    async def post(self, model: str, verb: str, body: bytes) -> httpx2.Response:
        """Raises GatewayError for every status but 200, and what the transport raises."""
        if verb != STREAM:
            return await self._native.post(model, verb, body)
        request = self._client.build_request("POST", self._url, content=openai_request(model, body))
        response = await self._client.send(request, stream=True)
        if response.status_code == 200:
            return response
        try:
            answer = await response.aread()
        finally:
            await response.aclose()
        raise error_of_answer(
            response.status_code, _parsed(answer), secret=self._secret, headers=response.headers
        )


class OpenAIGateway(Gateway):
    """A provider's OpenAI-compatible endpoint, or the emulator's. It has no explicit caches.

    Its route differs from the native one: whether signatures and caches of one endpoint are valid at the
    other is not documented.
    """

    has_explicit_caches = False
    dialect = "openai"

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str = GOOGLE,
        is_emulator: bool = False,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(api_key=api_key, base_url=base_url, is_emulator=is_emulator, transport=transport)
        self.label = f"{self.label} {LABEL_SUFFIX}"
        key, url = api_key.strip(), self.base_url + PATH
        self.route = route_of(url, key)
        self._http = httpx2.AsyncClient(
            transport=GatewayTransport(transport),
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            trust_env=False,
            follow_redirects=False,
        )
        self._sender = OpenAISender(self._http, url, self._sender, self._secret)

    def wire_body(self, model: str, body: bytes) -> bytes:
        return openai_request(model, body)

    async def create_cache(
        self, *, model: str, contents_and_tools: bytes, ttl_seconds: int, display_name: str
    ) -> CacheCreated:
        """Raises BadRequest: there is nothing to create; no request is sent."""
        raise _no_caches()

    async def list_caches(self) -> tuple[CacheListed, ...]:
        return ()

    async def extend_cache(self, name: str, ttl_seconds: int) -> CacheCreated:
        raise _no_caches()

    async def delete_cache(self, name: str) -> None:
        raise _no_caches()

    async def upload_file(self, body: bytes, *, mime: str, name: str) -> ProviderFile:
        """Raises BadRequest: this endpoint takes files only inside the request."""
        raise BadRequest(
            f"“{name}” is too large for the OpenAI-compatible endpoint.",
            hint="Attach a smaller file, or have PIPEWEB_DIALECT set to gemini.",
        )

    async def aclose(self) -> None:
        await self._http.aclose()
        await super().aclose()


def _no_caches() -> BadRequest:
    return BadRequest(
        "The OpenAI-compatible endpoint has no explicit caches.",
        hint="The static layer is sent inline; the provider may still cache its prefix.",
    )


def _parsed(answer: bytes) -> object:
    """The error body; a proxy's page stays text."""
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError:
        return answer.decode("utf-8", "replace")
