"""Who answers at a base URL, in words for the pages."""

from urllib.parse import urlsplit

_GOOGLES = "googleapis.com"
_LONGEST = 40


def host_of(base_url: str) -> str:
    """The host, with its port, of a base URL that is not Google's; empty for Google's and for none.

    Long ones are cut to 40 characters.
    """
    name = _netloc(base_url).lower()
    if f".{name}".endswith(f".{_GOOGLES}"):
        return ""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def without_user(base_url: str) -> str:
    """The URL without the name and password that a proxy may want in it."""
    return urlsplit(base_url)._replace(netloc=_netloc(base_url)).geturl()


def _netloc(base_url: str) -> str:
    return urlsplit(base_url).netloc.rpartition("@")[2]
