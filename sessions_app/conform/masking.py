"""What is left out of a report that is given away: keys, account data, resource names, opaque bytes.

A text keeps its form: what is replaced stands inside a JSON string, so that a masked body still parses.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

KEY, ACCOUNT, ADDRESS, NAME, NUMBER = "[API key]", "[account]", "[address]", "[name]", "[number]"

KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""Headers of a response that are kept; none of a request is."""

_SURELY_A_KEY = 20
"""Characters from which a key is replaced inside words too; a shorter one could be part of a word."""

_ACCOUNT_KEYS = r"project|consumer|account|e-?mail|billing|organi[sz]ation|customer|tenant|principal|user"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"AIza[\w-]{10,}|\bAQ\.[\w-]{10,}"), KEY),
    (re.compile(r"\bya29\.[\w.-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]*"), KEY),
    (re.compile(r"(bearer\s+)[\w.~+/-]+=*", re.IGNORECASE), rf"\1{KEY}"),
    (re.compile(rf'("[^"\\]*(?:{_ACCOUNT_KEYS})[^"\\]*"\s*:\s*")(?:[^"\\]|\\.)*', re.I), rf"\1{ACCOUNT}"),
    (re.compile(r"[\w.+%-]+(?:@|\\u0040|%40)[\w-]+(?:\.[\w-]+)+"), ACCOUNT),
    (re.compile(r"\b(projects?/)[\w:.-]+", re.IGNORECASE), rf"\1{ACCOUNT}"),
    (
        re.compile(r"\b(projects?(?:[ _](?:id|number))?(?:[ =:#'`]|\\\")+)(?=[\w-]*[\d-])[\w:-]+", re.I),
        rf"\1{ACCOUNT}",
    ),
    (re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"), ADDRESS),
    (re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE), ADDRESS),
    (re.compile(r"\b((?:cachedContents|files|tunedModels|operations)/)[\w.-]+"), rf"\1{NAME}"),
)
_OPAQUE = re.compile(r'"((?:[A-Za-z0-9+/_=-]|\\u003d|\\/){64,})"')
_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_LONG_NUMBER = re.compile(r"(?<![\w.])\d{10,}(?!\w)")
_NAMED_BY = {"models": "name", "cachedContents": "displayName", "files": "displayName"}


@dataclass(frozen=True, slots=True)
class Mask:
    """Replaces what must not leave. `secrets` are the keys in use; `own` are the names in lists that stay."""

    secrets: tuple[str, ...]
    own: frozenset[str]

    def text(self, text: str) -> str:
        for secret in filter(None, self.secrets):
            text = _pattern(secret).sub(KEY, text)
        text = _OPAQUE.sub(_shortened, text)
        for pattern, replacement in _RULES:
            text = pattern.sub(replacement, text)
        if _STRINGS.search(text) is None:
            return _LONG_NUMBER.sub(NUMBER, text)
        return _STRINGS.sub(lambda found: _LONG_NUMBER.sub(NUMBER, found[0]), text)

    def body(self, method: str, path: str, body: bytes) -> str:
        """A body as text; of a list only the entries that are ours, in the same form."""
        text = body.decode(errors="replace")
        name = _NAMED_BY.get(path.rpartition("/")[2]) if method == "GET" else None
        return self.text(self._own_entries(text, name) if name else text)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(headers[name]) for name in KEPT_HEADERS if name in headers}

    def _own_entries(self, text: str, name: str) -> str:
        try:
            listed = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
        if not isinstance(listed, dict) or "error" in listed:
            return text
        kept = {
            key: [one for one in found if isinstance(one, dict) and one.get(name) in self.own]
            for key, found in listed.items()
            if isinstance(found, list)
        }
        return orjson.dumps(kept).decode()


def _pattern(secret: str) -> re.Pattern[str]:
    quoted = re.escape(secret)
    return re.compile(quoted if len(secret) >= _SURELY_A_KEY else rf"(?<![\w-]){quoted}(?![\w-])")


def _shortened(found: re.Match[str]) -> str:
    """The length of an opaque value and a hash, to recognise it by."""
    digest = hashlib.sha256(found[1].encode()).hexdigest()[:12]
    return f'"[opaque: {len(found[1])} characters, sha256 {digest}]"'
