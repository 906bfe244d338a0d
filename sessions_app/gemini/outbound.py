"""How requests to the provider leave this machine: directly or through a proxy, and whom they trust.

The environment is read by the settings, not here; proxies of other variables and of the SDK do not count.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

import httpx2

from sessions_app.gemini.network import NetworkTransport

LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=60.0)
"""httpx2 allows 100 connections by default; the 101st stream would wait."""


@dataclass(frozen=True, slots=True)
class Outbound:
    """`proxy` is the URL of an HTTP proxy for https addresses, with its user and password if it has any;
    one that is https is itself reached over TLS.

    `no_proxy` has the hosts that are reached directly, as curl reads them: a name stands for the names below
    it, `*` for all. `ca_bundle` is a PEM file of the only authorities that are trusted; without one they are
    those of the system.
    """

    proxy: str = ""
    no_proxy: str = ""
    ca_bundle: Path | None = None

    def transport(self, base_url: str) -> httpx2.AsyncBaseTransport:
        """For the requests of one gateway, which all go to the host of `base_url`.

        httpx2's own through a proxy: with aiohttp a connection stayed open there after a refused certificate.
        """
        context = self.trusted()
        proxy = self.proxy_for(base_url)
        if not proxy:
            return NetworkTransport(context)
        # The proxy's own certificate, where it is reached over TLS itself.
        towards = context if proxy.startswith("https:") else None
        return httpx2.AsyncHTTPTransport(
            limits=LIMITS, verify=context or True, proxy=httpx2.Proxy(proxy, ssl_context=towards)
        )

    def trusted(self) -> ssl.SSLContext | None:
        """None stands for the authorities of the system."""
        return ssl.create_default_context(cafile=self.ca_bundle) if self.ca_bundle else None

    def proxy_for(self, url: str) -> str:
        """Empty where the address is reached directly."""
        parts = urlsplit(url)
        if not self.proxy or parts.scheme != "https":
            return ""
        host = f"{parts.hostname}:{parts.port or 443}"
        return "" if proxy_bypass_environment(host, {"no": self.no_proxy}) else self.proxy
