"""What the headers of a request ask of every response: compression, and leave for scripts of other origins.

Google compresses whole responses and streams alike where `Accept-Encoding` names gzip, and answers
any origin. A preflight carries no key. The pages at `/_emulator` are left out: they show requests.
"""

import re
from dataclasses import replace

from sessions_app.emulator.framing import JSON_TYPE
from sessions_app.emulator.http import ApiRequest, ApiResponse, Body
from sessions_app.emulator.journal import JournalEntry

NAME_HEADER = "x-pipeweb-emulator"
"""In every response: a client can tell that no provider answered, and that nothing is owed."""

_METHODS = "DELETE,GET,HEAD,OPTIONS,PATCH,POST,PUT"
_PREFLIGHT_SECONDS = "3600"
_ZERO = re.compile(r"q\s*=\s*0(\.0*)?")
_VARY = "Origin, X-Origin, Referer"


def is_preflight(request: ApiRequest) -> bool:
    """Whether a browser asks if a script may send a request."""
    headers = request.headers
    return request.method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def preflight(request: ApiRequest, entry: JournalEntry) -> ApiResponse:
    entry.status = 200
    headers = {
        "access-control-allow-origin": request.headers["origin"],
        "access-control-allow-methods": _METHODS,
        "access-control-allow-headers": request.headers.get("access-control-request-headers", ""),
        "access-control-max-age": _PREFLIGHT_SECONDS,
        "content-type": JSON_TYPE,
        "vary": _VARY,
    }
    return ApiResponse(200, headers, Body([], entry))


def deliver(response: ApiResponse, request: ApiRequest) -> ApiResponse:
    """The response as this client wants it."""
    headers = {**response.headers, NAME_HEADER: "1"}
    # A response of announced length is one that breaks off; compressed it would have another.
    if accepts_gzip(request.headers.get("accept-encoding", "")) and "content-length" not in headers:
        response.body.compress()
        headers["content-encoding"] = "gzip"
    varies = ["Accept-Encoding"]
    if origin := request.headers.get("origin"):
        headers["access-control-expose-headers"] = ",".join(sorted(headers))
        headers["access-control-allow-origin"] = origin
        varies.append(_VARY)
    return replace(response, headers=headers | {"vary": ", ".join(varies)})


def accepts_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header takes gzip: named, or meant by `*`, with a weight above zero."""
    choices = dict(_choice(choice) for choice in accepted.lower().split(","))
    return choices.get("gzip", choices.get("*", False))


def _choice(choice: str) -> tuple[str, bool]:
    """A coding, and whether its weight lets it be used."""
    name, _, weight = choice.partition(";")
    return name.strip(), _ZERO.fullmatch(weight.strip()) is None
