"""`/_emulator`: what came in, what was answered, which caches live, who closed early.

The same facts as a page and as JSON. It asks for no key and is not in the journal itself; what
strangers sent is escaped, and the page runs no script.
"""

from html import escape
from typing import Any

from sessions_app.emulator import framing
from sessions_app.emulator.caches import Cache
from sessions_app.emulator.exchange import Body, Request, Response
from sessions_app.emulator.journal import Entry, Journal

PATH = "/_emulator"

_SHOWN = 20_000
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;"
    "border-bottom:1px solid #8884;vertical-align:top}pre{white-space:pre-wrap;overflow-wrap:anywhere;"
    "max-height:24rem;overflow:auto;background:#8881;padding:.6rem}"
)


def is_asked(request: Request) -> bool:
    return request.method == "GET" and request.path in {PATH, f"{PATH}/", f"{PATH}.json"}


def show(request: Request, journal: Journal, caches: list[Cache]) -> Response:
    """The page, or the JSON for `/_emulator.json` and for who accepts only that."""
    wants_json = request.path.endswith(".json") or "json" in request.headers.get("accept", "")
    if wants_json:
        text, kind = framing.pretty(facts(journal, caches)), framing.JSON_TYPE
    else:
        text, kind = _page(journal, caches).encode(), "text/html; charset=utf-8"
    aside = Entry(0, request.method, request.path, b"")
    return Response(200, {"content-type": kind, **_HEADERS}, Body([text], aside))


def facts(journal: Journal, caches: list[Cache]) -> dict[str, Any]:
    """Newest request first; texts are cut at 20,000 bytes."""
    return {
        "requests": [_told(entry) for entry in reversed(list(journal))],
        "caches": [cache.resource() for cache in caches],
    }


def _told(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "method": entry.method,
        "path": entry.path,
        "status": entry.status,
        "chunks": entry.chunks,
        "bytes": entry.sent,
        "seconds": None if entry.seconds is None else round(entry.seconds, 3),
        "underWay": entry.under_way,
        "closedEarly": entry.closed_early,
        "request": _text(entry.body),
        "answer": _text(entry.answer),
    }


def _text(data: bytes | bytearray) -> str:
    return bytes(data[:_SHOWN]).decode(errors="replace")


def _page(journal: Journal, caches: list[Cache]) -> str:
    told = facts(journal, caches)
    requests = "".join(map(_request_row, told["requests"])) or _nothing(7, "No request yet.")
    kept = "".join(map(_cache_row, told["caches"])) or _nothing(4, "No cache.")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Gemini emulator</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f'<h1>Gemini emulator</h1><p>The newest requests first. <a href="{PATH}.json">As JSON</a></p>'
        f"<h2>Requests</h2><table>{_head('#', 'request', 'status', 'chunks', 'bytes', 'seconds', 'end')}"
        f"{requests}</table><h2>Caches</h2><table>{_head('name', 'model', 'tokens', 'expires')}{kept}"
        "</table></html>"
    )


def _head(*titles: str) -> str:
    return "<tr>" + "".join(f'<th scope="col">{title}</th>' for title in titles) + "</tr>"


def _nothing(columns: int, text: str) -> str:
    return f'<tr><td colspan="{columns}">{text}</td></tr>'


def _request_row(told: dict[str, Any]) -> str:
    end = "under way" if told["underWay"] else "closed early" if told["closedEarly"] else "complete"
    seconds = "" if told["seconds"] is None else f"{told['seconds']:.3f}"
    what = f"<code>{escape(told['method'])} {escape(told['path'])}</code>"
    texts = "".join(f"<h3>{name}</h3><pre>{escape(told[name])}</pre>" for name in ("request", "answer"))
    cells = (
        told["number"],
        f"<details><summary>{what}</summary>{texts}</details>",
        told["status"],
        told["chunks"],
        told["bytes"],
        seconds,
        end,
    )
    return _row(cells)


def _cache_row(cache: dict[str, Any]) -> str:
    tokens = cache["usageMetadata"]["totalTokenCount"]
    return _row(escape(str(cell)) for cell in (cache["name"], cache["model"], tokens, cache["expireTime"]))


def _row(cells: Any) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
