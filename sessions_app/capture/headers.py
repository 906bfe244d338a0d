"""Headers of relayed requests and answers: what goes on, what is stored, and whose program it was."""

import hmac
import re
from collections.abc import Iterable
from itertools import groupby

from sessions_app.gemini.http_evidence import EMULATOR_HEADER
from sessions_app.wording.capture import products

Pair = tuple[str, str]

SESSION_HEADER = "x-pipeweb-session"

_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_NOT_SENT = _HOP_BY_HOP | {"host", "content-length", "expect", "cookie", "accept-encoding"}
_NOT_ANSWERED = _HOP_BY_HOP | {"set-cookie", "alt-svc"}
_OURS = "x-pipeweb"
_KEPT = frozenset(
    {
        "user-agent",
        "x-goog-api-client",
        "content-type",
        "accept-encoding",
        "x-server-timeout",
        "traceparent",
        SESSION_HEADER,
    }
)
_KEPT_OF_ANSWERS = frozenset(
    {"content-type", "content-encoding", "retry-after", "server-timing", "date", EMULATOR_HEADER}
)
_UPLOAD_URLS = frozenset({"x-goog-upload-url", "x-goog-upload-control-url", "location"})
_INSTALLATION = "x-gemini-api-privileged-user-id"
_KEY, _BEARER = "x-goog-api-key", "authorization"
_AI_SDK = re.compile(r"ai(?:-sdk(?:-[\w-]+)?)?")
"""Products of the AI SDK, of which its functions name different ones in one conversation."""

_LONGEST = 300


def decoded(headers: Iterable[tuple[bytes, bytes]]) -> list[Pair]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def first(headers: Iterable[Pair], name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")


def to_provider(headers: Iterable[Pair]) -> list[Pair]:
    """What goes on: not what belongs to one connection, and nothing of ours. Answers come unpacked."""
    pairs = list(headers)
    left_out = _NOT_SENT | _named_in_connection(pairs)
    found = [(k, v) for k, v in pairs if k.lower() not in left_out and not k.lower().startswith(_OURS)]
    return [*found, ("Accept-Encoding", "identity")]


def to_client(headers: Iterable[Pair], *, upstream: str, relay: str) -> list[Pair]:
    """`upstream` and `relay` are the base URLs: addresses for uploads lead through the relay again."""
    pairs = list(headers)
    left_out = _NOT_ANSWERED | _named_in_connection(pairs)
    found = [(key, value) for key, value in pairs if key.lower() not in left_out]
    # nginx would collect a stream before it passes it on.
    return [(key, _through(key, value, upstream, relay)) for key, value in found] + [
        ("X-Accel-Buffering", "no")
    ]


def kept(headers: Iterable[Pair], *, of_answer: bool = False) -> list[list[str]]:
    """Pairs that are stored: by a list of names, so that one nobody thought of is not."""
    names = _KEPT_OF_ANSWERS if of_answer else _KEPT
    return [[key.lower(), value[:_LONGEST]] for key, value in headers if key.lower() in names]


def scope_of(headers: Iterable[Pair], secret: str) -> str:
    """Program and installation. The id of the installation goes in as a keyed hash only."""
    pairs = list(headers)
    found = products(first(pairs, "user-agent"))
    known = ("ai-sdk" if _AI_SDK.fullmatch(name) else name for name in found)
    names = " ".join(name for name, _ in groupby(known))
    installation = first(pairs, _INSTALLATION)
    if installation:
        names += f" {keyed_hash(installation, secret)}"
    return names[:200]


def keyed_hash(text: str, secret: str) -> str:
    """16 hexadecimal digits that tell whether two texts are the same, and nothing of them; empty for none."""
    return (
        hmac.new(secret.encode(), text.encode("latin-1", "replace"), "sha256").hexdigest()[:16]
        if text
        else ""
    )


def key_of(headers: Iterable[Pair]) -> str:
    """The API key or the access token that a program sent, or none."""
    pairs = list(headers)
    return first(pairs, _KEY) or first(pairs, _BEARER).partition(" ")[2].strip()


def with_key(headers: Iterable[Pair], key: str) -> list[Pair]:
    """In place of whatever key a program sent."""
    found = [(name, value) for name, value in headers if name.lower() not in (_KEY, _BEARER)]
    return [*found, (_KEY, key)]


def _named_in_connection(headers: Iterable[Pair]) -> set[str]:
    named = ",".join(value for key, value in headers if key.lower() == "connection")
    return {name.strip().lower() for name in named.split(",")}


def _through(key: str, value: str, upstream: str, relay: str) -> str:
    if key.lower() in _UPLOAD_URLS and value.startswith(f"{upstream}/"):
        return relay + value.removeprefix(upstream)
    return value
