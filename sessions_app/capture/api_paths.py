"""Which addresses of an HTTP archive are the Gemini API's: at Google, behind a proxy, at Vertex AI."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from sessions_app.capture.paths import MOUNT, RESOURCES, RelayPath, is_relayed, relay_path
from sessions_app.hosts import EMULATOR, GOOGLE, without_user

_MODEL_METHOD = re.compile(
    r"(?P<prefix>(?:/[^/]*)*?)(?:/v\d+\w*)?(?:/projects/[^/]+(?:/locations/[^/]+)?)?(?:/publishers/google)?"
    r"/(?:models|tunedModels|dynamic|endpoints)/[^/:]+(?::|%3[Aa])"
    r"(?:generateContent|streamGenerateContent|batchGenerateContent|countTokens|computeTokens|embedContent"
    r"|batchEmbedContents|asyncBatchEmbedContent)"
)
"""Methods that no other API has at such a path; Vertex AI has a project and a publisher before the model."""

_RESOURCE = re.compile(
    rf"/(?:upload/)?v1(?:alpha|beta\d?)?/(?:projects/[^/]+/(?:locations/[^/]+/)?)?(?:publishers/google/)?"
    rf"(?:{RESOURCES})\b"
)
_GOOGLES = {GOOGLE, GOOGLE.replace("https:", "http:"), EMULATOR}
_NO_TOKEN = "-" * 22
"""In the place of a token."""

LONGEST = 255
"""Characters of a base URL that a column holds."""

_SECRET = 20
"""Characters of a segment before the path of the API from which it may be a key."""


class ApiRequest(NamedTuple):
    """What an address asks of the API. `base_url` is what stands before the path: scheme, host, prefix.

    A long segment of the prefix is left out, since it may be a key. The token of the path is empty.
    """

    base_url: str
    path: RelayPath


def host_url_of(url: str) -> str:
    """Scheme and host, without a name and a password; empty for no address of HTTP."""
    try:
        parts = urlsplit(without_user(url))
    except ValueError:
        return ""
    is_http = parts.scheme in ("http", "https") and parts.netloc
    return f"{parts.scheme}://{parts.netloc.lower()}"[:LONGEST] if is_http else ""


def base_shown_by(url: str) -> str:
    """The base URL behind which an address asks a model in the way of the Gemini API; empty for any other."""
    host = host_url_of(url)
    found = _MODEL_METHOD.fullmatch(_path_of(url)) if host else None
    return host + found["prefix"] if found else ""


def api_request(url: str, bases: Collection[str] = ()) -> ApiRequest | None:
    """A request that did not come through this relay, or through the relay of another server.

    Google has any path with a version, what is behind one of `bases` the known ones, any other address
    methods of models only. None where it asks for nothing of the API.
    """
    host, path = host_url_of(url), _path_of(url)
    if not host:
        return None
    if host in _GOOGLES or is_relayed(path.encode("latin-1", "replace")):
        prefix = ""
    else:
        known = (base for base in bases if f"{host}{path}".startswith(f"{base}/"))
        base = base_shown_by(url) or max(known, key=len, default="")
        if not base:
            return None
        prefix = base.removeprefix(host)
    found = _known_path(path.removeprefix(prefix), may_be_any=host in _GOOGLES or bool(base_shown_by(url)))
    return ApiRequest(f"{host}{_without_secrets(prefix)}"[:LONGEST], found) if found else None


def _known_path(path: str, *, may_be_any: bool) -> RelayPath | None:
    given = path.encode("latin-1", "replace")
    found = relay_path(given) or relay_path(f"{MOUNT}{_NO_TOKEN}".encode() + given)
    if found is None or not found.is_known or not (may_be_any or _RESOURCE.match(found.rest)):
        return None
    return replace(found, token="", base="")


def _path_of(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _without_secrets(prefix: str) -> str:
    return "/".join("…" if len(unquote(one)) >= _SECRET else one for one in prefix.split("/"))
