"""Which of the addresses in an HTTP archive are those of the Gemini API."""

import re
from collections.abc import Collection
from dataclasses import replace
from urllib.parse import urlsplit

from sessions_app.capture.paths import MOUNT, RESOURCES, RelayPath, is_relayed, relay_path
from sessions_app.hosts import EMULATOR, GOOGLE, without_user

_MODEL_METHOD = re.compile(
    r"(?:/v1(?:alpha|beta\d?)?)?/(?:models|tunedModels|dynamic)/[^/:]+:"
    r"(?:generateContent|streamGenerateContent|batchGenerateContent|countTokens|embedContent"
    r"|batchEmbedContents|asyncBatchEmbedContent)"
)
"""Methods that no other API has at such a path."""

_RESOURCE = re.compile(rf"/(?:upload/)?v1(?:alpha|beta\d?)?/(?:{RESOURCES})\b")
_GOOGLES = {GOOGLE, GOOGLE.replace("https:", "http:"), EMULATOR}
_NO_TOKEN = "-" * 22
"""In the place of a token."""

LONGEST = 255
"""Characters of a base URL that a column holds."""


def base_url_of(url: str) -> str:
    """Scheme and host, without a name and a password; empty for no address of HTTP."""
    try:
        parts = urlsplit(without_user(url))
    except ValueError:
        return ""
    is_http = parts.scheme in ("http", "https") and parts.netloc
    return f"{parts.scheme}://{parts.netloc.lower()}"[:LONGEST] if is_http else ""


def path_of(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def names_model_method(path: str) -> bool:
    """Whether a path asks a model in the way of the Gemini API, whoever has it."""
    return _MODEL_METHOD.fullmatch(path) is not None


def api_path(path: str, base_url: str, hosts: Collection[str] = ()) -> RelayPath | None:
    """The path of a request that did not come through this relay, or through the relay of another server.

    Google has any path with a version, one of `hosts` the known ones, any other host methods of models only.
    None where it asks for nothing of the API. Its token is empty.
    """
    given = path.encode("latin-1", "replace")
    found = relay_path(given) or relay_path(f"{MOUNT}{_NO_TOKEN}".encode() + given)
    if found is None or not found.is_known:
        return None
    is_google = base_url in _GOOGLES
    may_have = is_google or is_relayed(given) or base_url in hosts or names_model_method(path)
    is_asked = is_google or _RESOURCE.match(found.rest) is not None
    return replace(found, token="", base="") if may_have and is_asked else None
