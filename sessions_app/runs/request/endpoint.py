"""The properties of the gateway that a request depends on."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

from sessions_app.gemini.gateway import Gateway
from sessions_app.hosts import without_user
from sessions_app.prompt.payload import Payload


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`label` is its name on the pages, `base_url` the address that a request goes to."""

    route: str
    label: str
    dialect: str
    has_explicit_caches: bool
    wire_body: Callable[[str, bytes], bytes]
    base_url: str = ""

    @classmethod
    def of(cls, gateway: Gateway) -> Self:
        return cls(
            gateway.route,
            gateway.label,
            gateway.dialect,
            gateway.has_explicit_caches,
            gateway.wire_body,
            without_user(gateway.base_url),
        )

    def sent_sha256(self, payload: Payload) -> str:
        """The hash of the sent bytes; empty when they are the payload's body."""
        travelling = self.wire_body(payload.model, payload.body)
        return "" if travelling == payload.body else sha256(travelling).hexdigest()
