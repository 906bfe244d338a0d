"""The second gateway: the same models through the OpenAI-compatible door.

To its callers it is a Gateway like the first: a prepared Gemini body in, raw chunks out.
"""

import httpx2

from sessions_app.errors import BadRequest
from sessions_app.gemini.answers import CacheCreated, CacheListed
from sessions_app.gemini.files import FileKept
from sessions_app.gemini.gateway import EMULATOR, GOOGLE, Gateway, route_of
from sessions_app.gemini.openai_seam import PATH, OpenAISeam
from sessions_app.gemini.transport import GatewayTransport
from sessions_app.prompt.renditions.openai import DOOR, request_of


class OpenAIGateway(Gateway):
    """A provider's OpenAI-compatible door, or the emulator's.

    Its route differs from the native one: what a signature or a cache is worth on the other side of
    the house is not documented. It has no explicit caches.
    """

    has_explicit_caches = False
    dialect = "openai"

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str = GOOGLE,
        label: str = f"Gemini {DOOR}",
        is_emulator: bool = False,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(
            api_key=api_key, base_url=base_url, label=label, is_emulator=is_emulator, transport=transport
        )
        key, url = api_key.strip(), self.base_url + PATH
        self.route = route_of(url, key)
        self._http = httpx2.AsyncClient(
            transport=GatewayTransport(transport),
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            trust_env=False,
        )
        self._seam = OpenAISeam(self._http, url, self._seam, self._secret)

    @classmethod
    def to_emulator(cls, transport: httpx2.AsyncBaseTransport) -> "OpenAIGateway":
        return cls(
            api_key="emulator",
            base_url=EMULATOR,
            label=f"Emulator {DOOR}",
            is_emulator=True,
            transport=transport,
        )

    def wire_of(self, model: str, body: bytes) -> bytes:
        return request_of(model, body)

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

    async def keep_file(self, body: bytes, *, mime: str, name: str) -> FileKept:
        """Raises BadRequest: this door takes files only inside the request."""
        raise BadRequest(
            f"“{name}” is too large for the OpenAI-compatible door.",
            hint="Attach a smaller file, or have PIPEWEB_DIALECT set to gemini.",
        )

    async def aclose(self) -> None:
        await self._http.aclose()
        await super().aclose()


def _no_caches() -> BadRequest:
    return BadRequest(
        "The OpenAI-compatible door has no explicit caches.",
        hint="The static layer is sent inline; the provider may still cache its prefix.",
    )
