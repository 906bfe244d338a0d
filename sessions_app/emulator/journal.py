"""The newest requests with what became of them and why, and the page at `/_emulator` that shows them.

Bodies are kept whole, API keys are not. The page escapes what clients sent and runs no script.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape

from sessions_app.emulator.decisions import Decision
from sessions_app.emulator.framing import pretty
from sessions_app.emulator.wire_model import JsonObject

PATHS = ("/_emulator", "/_emulator/", "/_emulator.json")
PAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}

_ENTRIES_KEPT = 200
_RESPONSE_KEPT = 65_536
_SHOWN = 20_000
_COLUMNS = ("#", "request", "status", "rule", "chunks", "bytes", "seconds", "end")
_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;"
    "border-bottom:1px solid #8884;vertical-align:top}pre{white-space:pre-wrap;overflow-wrap:anywhere;"
    "max-height:24rem;overflow:auto;background:#8881;padding:.6rem}"
)


@dataclass(slots=True)
class JournalEntry:
    """One request. `seconds` runs from its arrival to the last byte or to the client's leaving, and
    is None while the response is under way. `answer` is the beginning of what was sent, `sent` the
    number of bytes in all."""

    number: int
    method: str
    path: str
    body: bytes
    decision: Decision
    status: int = 0
    chunks: int = 0
    closed_early: bool = False
    seconds: float | None = None
    sent: int = 0
    answer: bytearray = field(default_factory=bytearray, repr=False)
    _arrived: float = field(default_factory=time.monotonic, repr=False)

    @property
    def under_way(self) -> bool:
        return self.seconds is None

    def send(self, piece: bytes) -> None:
        self.chunks += 1
        self.sent += len(piece)
        self.answer += piece[: _RESPONSE_KEPT - len(self.answer)]

    def close(self, *, early: bool) -> None:
        """The first close counts; a later one changes nothing."""
        if self.under_way:
            self.closed_early = early
            self.seconds = time.monotonic() - self._arrived

    def describe(self) -> JsonObject:
        """Texts are cut at 20,000 bytes."""
        return {
            "number": self.number,
            "method": self.method,
            "path": self.path,
            "status": self.status,
            "chunks": self.chunks,
            "bytes": self.sent,
            "seconds": None if self.seconds is None else round(self.seconds, 3),
            "underWay": self.under_way,
            "closedEarly": self.closed_early,
            "decision": self.decision.describe(),
            "request": self.body[:_SHOWN].decode(errors="replace"),
            "answer": self.answer[:_SHOWN].decode(errors="replace"),
        }


class Journal:
    """Entries, oldest first."""

    def __init__(self, capacity: int = _ENTRIES_KEPT) -> None:
        self._entries: deque[JournalEntry] = deque(maxlen=capacity)
        self._count = 0

    def open(self, method: str, path: str, body: bytes, at: datetime) -> JournalEntry:
        self._count += 1
        entry = JournalEntry(self._count, method, path, body, Decision(at))
        self._entries.append(entry)
        return entry

    @property
    def last(self) -> JournalEntry:
        """Raises IndexError before the first request."""
        return self._entries[-1]

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def describe(self, caches: Sequence[JsonObject]) -> JsonObject:
        """What `/_emulator.json` returns, the newest request first."""
        return {"requests": [entry.describe() for entry in reversed(list(self))], "caches": caches}


def render_page(facts: JsonObject) -> str:
    """`facts` is what Journal.describe returns."""
    requests = "".join(map(_request_row, facts["requests"])) or _empty_row(len(_COLUMNS), "No request yet.")
    caches = "".join(map(_cache_row, facts["caches"])) or _empty_row(4, "No cache.")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Gemini emulator</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f'<h1>Gemini emulator</h1><p>The newest requests first. <a href="{PATHS[-1]}">As JSON</a></p>'
        f"<h2>Requests</h2><table>{_head(*_COLUMNS)}"
        f"{requests}</table><h2>Caches</h2><table>{_head('name', 'model', 'tokens', 'expires')}{caches}"
        "</table></html>"
    )


def _head(*titles: str) -> str:
    return "<tr>" + "".join(f'<th scope="col">{title}</th>' for title in titles) + "</tr>"


def _empty_row(columns: int, text: str) -> str:
    return f'<tr><td colspan="{columns}">{text}</td></tr>'


def _request_row(entry: JsonObject) -> str:
    end = "under way" if entry["underWay"] else "closed early" if entry["closedEarly"] else "complete"
    seconds = "" if entry["seconds"] is None else f"{entry['seconds']:.3f}"
    title = f"<code>{escape(entry['method'])} {escape(entry['path'])}</code>"
    decision = entry["decision"]
    shown = {"decision": pretty(decision).decode(), "request": entry["request"], "answer": entry["answer"]}
    texts = "".join(f"<h3>{name}</h3><pre>{escape(text)}</pre>" for name, text in shown.items())
    details = f"<details><summary>{title}</summary>{texts}</details>"
    counts = (entry["status"], decision["rule"], entry["chunks"], entry["bytes"], seconds, end)
    return _row((entry["number"], details, *counts))


def _cache_row(cache: JsonObject) -> str:
    tokens = cache["usageMetadata"]["totalTokenCount"]
    return _row(escape(str(cell)) for cell in (cache["name"], cache["model"], tokens, cache["expireTime"]))


def _row(cells: Iterable[object]) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
