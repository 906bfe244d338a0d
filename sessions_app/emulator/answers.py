"""Answers that are one JSON object: whole ones, listings, refusals."""

from collections.abc import Mapping
from typing import Any

from sessions_app.emulator import framing
from sessions_app.emulator.exchange import Body, Request, Response
from sessions_app.emulator.journal import Entry
from sessions_app.emulator.refusals import Refusal
from sessions_app.emulator.visits import Visit


def whole(entry: Entry, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    entry.status = status
    named = {"content-type": framing.JSON_TYPE, **(headers or {})}
    return Response(status, named, Body([framing.pretty(value)], entry))


def refused(entry: Entry, request: Request, refusal: Refusal) -> Response:
    """The error object; a list of one where the provider answers with lists."""
    answer = refusal.payload()
    return whole(entry, [answer] if _lists_errors(request) else answer, status=refusal.code)


def page(name: str, resources: list[dict[str, Any]], visit: Visit) -> dict[str, Any]:
    """One page of a listing; `{}` when there is nothing to list."""
    end = visit.page_start + visit.page_size
    shown = resources[visit.page_start : end]
    following = {"nextPageToken": str(end)} if end < len(resources) else {}
    return {name: shown, **following} if shown else {}


def _lists_errors(request: Request) -> bool:
    if "/openai/" in request.path:
        return True
    return request.path.endswith(":streamGenerateContent") and request.query.get("alt") != "sse"
