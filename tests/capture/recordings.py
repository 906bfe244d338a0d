"""Recorded traffic of real clients, read for tests; the folder is not part of the project."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sessions_app.capture.grouping import Grouping
from sessions_app.capture.placements import Placement
from sessions_app.capture.traits import RequestTraits, strings_in, traits_of
from sessions_app.errors import PipewebError
from sessions_app.gemini.event_stream import EventSplitter
from sessions_app.prompt.reply import Reply, fold
from tests.conftest import ROOT

SHARED = ROOT.parent / "shared" / "captures"

needs_captures = pytest.mark.skipif(not SHARED.is_dir(), reason=f"NOTICE: no recorded clients in {SHARED}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One exchange of a client: what it sent, and what it was answered with."""

    key: str
    at: float
    ended_at: float
    path: str
    headers: dict[str, str]
    body: bytes
    traits: RequestTraits | None
    calls: tuple[tuple[str, ...], ...]
    has_failed: bool
    text: str = ""
    method: str = "POST"
    status: int = 200
    answer: bytes = b""
    answer_headers: tuple[tuple[str, str], ...] = ()
    packets: tuple[tuple[float, int], ...] = ()


def recorded(folder: str) -> list[Recorded]:
    return [_read(path) for path in sorted((SHARED / folder).glob("*.json"))]


def generating(folder: str) -> list[Recorded]:
    """Those that ask for an answer; they have contents."""
    return [one for one in recorded(folder) if one.traits and "enerateContent" in one.path]


def grouped(exchanges: Iterable[Recorded], grouping: Grouping | None = None) -> dict[str, Placement]:
    """Where each exchange is placed at last, when they come and end in this order."""
    grouping = grouping or Grouping()
    places: dict[str, Placement] = {}
    pending: list[Recorded] = []
    for one in exchanges:
        for over in [other for other in pending if other.ended_at <= one.at]:
            pending.remove(over)
            grouping.end(over.key, over.ended_at, over.calls, text=over.text, has_failed=over.has_failed)
        assert one.traits
        places[one.key] = grouping.place(one.key, one.at, one.traits)
        if adopted := places[one.key].adopted:
            places[adopted] = grouping.leaves[adopted].place
        pending.append(one)
    return places


def partition(places: dict[str, Placement]) -> list[list[str]]:
    """The keys of each session, in the order in which the sessions began."""
    sessions: dict[str, list[str]] = {}
    for key, place in sorted(places.items()):
        sessions.setdefault(place.session, []).append(key)
    return list(sessions.values())


def _read(path: Path) -> Recorded:
    facts = json.loads(path.read_text())
    headers = {name.lower(): value for name, value in facts["headers"]}
    body = path.with_suffix(".req.body").read_bytes()
    frames = facts.get("frames") or [[0.0, 0]]
    answer = path.with_suffix(".resp.body").read_bytes()
    at = float(facts.get("at", 0.0))
    reply = _reply(answer) if facts["status"] == 200 else None
    return Recorded(
        key=f"{path.parent.name}/{path.stem}",
        at=at,
        ended_at=at + frames[-1][0] / 1000,
        path=facts["raw_path"],
        headers=headers,
        body=body,
        traits=traits_of(body, scope=headers.get("user-agent", "")),
        calls=tuple(tuple(strings_in(call.args)) for call in reply.calls) if reply else (),
        text=reply.text if reply else "",
        has_failed=facts["status"] != 200,
        method=facts["method"],
        status=facts["status"],
        answer=answer,
        answer_headers=tuple((facts.get("resp_headers") or {}).items()),
        packets=tuple((ms, size) for ms, size in frames if size),
    )


def _reply(answer: bytes) -> Reply | None:
    """None for answers that no model gave, such as a list of models."""
    try:
        return fold(EventSplitter().feed(answer))
    except (PipewebError, ValueError):
        return None
