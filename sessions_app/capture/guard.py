"""Which requests may be relayed at all: of programs on this machine, or of others too; never of web pages."""

import ipaddress
import re
from collections.abc import Collection, Sequence
from typing import Any

from django.http.request import split_domain_port, validate_host

from sessions_app.capture.headers import Pair, first
from sessions_app.error_codes import CaptureFault

LOCAL, OFF = "local", "off"
_OF_PROXIES = ("x-forwarded-for", "forwarded", "x-real-ip")
_OF_BROWSERS = ("origin", "cookie")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""A tab may stand in the value of a header."""


def refusal(
    scope: Any, headers: Sequence[Pair], *, allowed: str, hosts: Collection[str]
) -> CaptureFault | None:
    """`allowed` is PIPEWEB_CAPTURE, `hosts` ALLOWED_HOSTS. None where the request may be relayed."""
    if allowed == OFF:
        return CaptureFault.SWITCHED_OFF
    # Google's client for JavaScript sends an empty cookie to the Interactions API; no browser sends one.
    names = {name.lower() for name, value in headers if value or name.lower() != "cookie"}
    if not names.isdisjoint(_OF_BROWSERS):
        return CaptureFault.FROM_BROWSER
    # A proxy on this machine relays requests of others.
    if allowed == LOCAL and not (_is_loopback(scope.get("client")) and names.isdisjoint(_OF_PROXIES)):
        return CaptureFault.FROM_ELSEWHERE
    host = split_domain_port(first(headers, "host"))[0]
    return None if host and validate_host(host, hosts) else CaptureFault.WRONG_HOST


def has_control_character(scope: Any) -> bool:
    """Whether the address or a header has one, which no client sends on."""
    values = (value for _, value in scope["headers"])
    return _CONTROL.search(b"".join([scope["raw_path"], scope["query_string"], *values])) is not None


def _is_loopback(client: Any) -> bool:
    try:
        return ipaddress.ip_address(client[0]).is_loopback
    except (ValueError, TypeError, IndexError):
        return False
