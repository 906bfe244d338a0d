"""How this installation reaches the provider, from its settings."""

import httpx2
from django.conf import settings

from sessions_app.gemini.outbound import Outbound


def provider_transport(base_url: str) -> httpx2.AsyncBaseTransport:
    """A transport of its own for a gateway to `base_url`."""
    return provider_outbound().transport(base_url)


def provider_outbound() -> Outbound:
    return Outbound(settings.HTTPS_PROXY, settings.NO_PROXY, settings.SSL_CERT_FILE)
