"""The address of a relayed request: whose it is, what it asks the provider for, and how it is stored."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

MOUNT = "/capture/"

BREAK_OFF = "pipeweb.break_off"
"""A key of the ASGI scope: what ends the connection, so that a program sees that its answer is not whole."""

_RELAYED = re.compile(rb"/capture/([A-Za-z0-9_-]{22})(?:/s/([A-Za-z0-9._~%-]{1,80}))?(/.*)?", re.DOTALL)
_VERSIONED = re.compile(r"/(?:upload/)?v1(?:alpha|beta\d?)?(?:/.*)?", re.DOTALL)
RESOURCES = (
    "models|tunedModels|dynamic|files|fileSearchStores|cachedContents|batches|corpora|auth_tokens"
    "|interactions|openai"
)
"""What paths of the API begin with, behind the version."""

_UNVERSIONED = re.compile(rf"/(?:upload/files|(?:{RESOURCES})\b)", re.DOTALL)
_KEYS = frozenset({"key", "access_token"})
_SECRETS = _KEYS | {"upload_id"}
_READ = frozenset({"", "json", "sse"})
"""Forms of an answer that are read, as `alt` names them."""

_WITH_SERVER_KEY = re.compile(
    r"POST /v1\w*/models/[^/:]+:(generateContent|streamGenerateContent|countTokens)"
    r"|GET /v1\w*/models(/[^/]+)?|(POST|PUT) /upload/v1\w*/files|(GET|DELETE) /v1\w*/files/[^/:]+"
)
_MODEL = re.compile(r"/(?:models|tunedModels|dynamic|endpoints)/([^/:?]+?)(?:%3[Aa]|[/:?]|$)")
_LIVE = "/ws/"
_COMPLETIONS = re.compile(r"/v1(?:alpha|beta\d?)?/openai/chat/completions(?:\?|$)")
_INTERACTIONS = re.compile(r"/v1(?:alpha|beta\d?)?/interactions(?:[/?]|$)")


@dataclass(frozen=True, slots=True)
class RelayPath:
    """`rest` is what follows the address, with the version that the client left out; `name` that of the
    session. `is_known`: it is one of the API.
    """

    token: str
    name: str
    base: str
    rest: str

    @property
    def is_known(self) -> bool:
        return _VERSIONED.fullmatch(self.rest) is not None and ".." not in unquote(self.rest).split("/")

    @property
    def is_live(self) -> bool:
        return self.rest.startswith(_LIVE)

    @property
    def is_upload(self) -> bool:
        return self.rest.startswith("/upload/")

    @property
    def asks_model(self) -> bool:
        """Whether it asks for an answer, so that it belongs to a session; the colon may be quoted."""
        return unquote(self.rest).endswith((":generateContent", ":streamGenerateContent"))

    def may_use_server_key(self, method: str) -> bool:
        """Nothing whose money no budget counts, and nothing that lists what others made with the same key; a
        file is known to who has its name.
        """
        return _WITH_SERVER_KEY.fullmatch(f"{method} {unquote(self.rest)}") is not None

    @property
    def model(self) -> str:
        found = _MODEL.search(self.rest)
        return unquote(found[1]) if found else ""


def asks_for_completion(path: str) -> bool:
    """Whether a stored path is that of chat completions, the form of OpenAI."""
    return _COMPLETIONS.match(path) is not None


def is_of_interaction(path: str) -> bool:
    """Whether a stored path makes an interaction, or asks for one that the provider keeps."""
    return _INTERACTIONS.match(path) is not None


def is_relayed(raw_path: bytes) -> bool:
    """Whether a path begins with an address; pages have shorter ones."""
    return _RELAYED.fullmatch(raw_path) is not None


def relay_path(raw_path: bytes) -> RelayPath | None:
    """`raw_path` is the path as it was sent, without the query. None where it is no relayed one."""
    found = _RELAYED.fullmatch(raw_path)
    if found is None:
        return None
    token, name, rest = (part.decode("latin-1") if part else "" for part in found.groups())
    # Some clients put their path behind an address that ends with a slash, with one of its own.
    rest = f"/{rest.lstrip('/')}" if rest else ""
    base = f"{MOUNT}{token}" + (f"/s/{name}" if name else "")
    if _UNVERSIONED.match(rest):
        rest = (
            f"/upload/v1beta{rest.removeprefix('/upload')}"
            if rest.startswith("/upload/")
            else f"/v1beta{rest}"
        )
    return RelayPath(token, unquote(name), base, rest)


def without_secrets(query: str) -> str:
    """The query as it is stored."""
    return "&".join(
        f"{one.partition('=')[0]}=…" if _parameter(one) in _SECRETS else one for one in query.split("&")
    )


def without_key(query: str) -> str:
    return "&".join(one for one in query.split("&") if _parameter(one) not in _KEYS)


def key_in(query: str) -> str:
    """The key that a query carries, or none."""
    found = (one.partition("=")[2] for one in query.split("&") if _parameter(one) in _KEYS)
    return unquote(next(found, ""))


def has_unread_answer(query: str) -> bool:
    """Whether it asks for an answer in a form that is not read: protobuf, bare bytes, a script."""
    pairs = ((_parameter(one), unquote(one.partition("=")[2])) for one in query.split("&"))
    return any(
        name == "callback" or (name == "alt" and value.partition(";")[0].strip().lower() not in _READ)
        for name, value in pairs
    )


def _parameter(one: str) -> str:
    """The name as Google reads it, which also takes `$key`."""
    return unquote(one.partition("=")[0]).lower().removeprefix("$")
