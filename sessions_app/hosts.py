"""Who answers at a base URL: the host, as pages, archives and programs name it."""

from urllib.parse import urlsplit

GOOGLE = "https://generativelanguage.googleapis.com"
EMULATOR = "http://emulator.invalid"
"""The built-in emulator: it has no address outside its process."""

UNKNOWN = "http://unknown-host.invalid"
"""Stands in an archive for an address that was not stored."""

EMULATOR_NAME = "emulator"
UNKNOWN_NAME = "unknown host"

_GOOGLES = "googleapis.com"
_LONGEST = 40


def host_of(base_url: str) -> str:
    """The host of a base URL with its port, "emulator" for the built-in one; empty for none.

    Long ones are cut to 40 characters.
    """
    if base_url == EMULATOR:
        return EMULATOR_NAME
    name = _netloc(base_url).lower()
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def is_google(base_url: str) -> bool:
    return f".{_netloc(base_url).lower()}".endswith(f".{_GOOGLES}")


def answering_host(base_url: str, provider: str) -> str:
    """The host that answered an exchange.

    Rows without an address have only `provider`, which was "Gemini" for every provider but the emulator.
    """
    if base_url:
        return host_of(base_url)
    return EMULATOR_NAME if EMULATOR_NAME in provider.lower() else UNKNOWN_NAME


def public_address(base_url: str) -> str:
    """The base URL if another program can reach it; empty for the built-in emulator and for none."""
    return "" if base_url == EMULATOR else base_url


def without_user(base_url: str) -> str:
    """The URL without the name and password that a proxy may want in it."""
    return urlsplit(base_url)._replace(netloc=_netloc(base_url)).geturl()


def _netloc(base_url: str) -> str:
    return urlsplit(base_url).netloc.rpartition("@")[2]
