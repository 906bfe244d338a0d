"""Recorded exchanges made up for one test each."""

import base64
from datetime import UTC, date, datetime
from typing import Any

from sessions_app.conform.recordings.recorded import RecordedExchange, Recording
from tests.emulator.helpers import Wire, user

DAY = date(2026, 7, 1)
SIGNED = {"thoughtSignature": "AAAA"}


def response_id(day: date) -> str:
    seconds = int(datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp())
    return base64.urlsafe_b64encode(seconds.to_bytes(4, "little") + bytes(13)).decode().rstrip("=")


def chunk(version: str, *parts: Wire, finish: str = "", day: date = DAY, thoughts: int = 5) -> Wire:
    candidate: Wire = {"content": {"parts": list(parts), "role": "model"}}
    candidate |= {"finishReason": finish} if finish else {}
    usage: Wire = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7 + thoughts}
    usage |= {"thoughtsTokenCount": thoughts} if thoughts else {}
    return {
        "candidates": [candidate | {"index": 0}],
        "usageMetadata": usage,
        "modelVersion": version,
        "responseId": response_id(day),
    }


def exchange(*chunks: Wire, request: Wire | None = None, **fields: Any) -> RecordedExchange:
    """A stream as Google's own service sends it."""
    return RecordedExchange.model_validate(
        {
            "endpoint": "streamGenerateContent",
            "status": 200,
            "request": request or {"contents": [user("hello")]},
            "model_requested": chunks[-1].get("modelVersion", ""),
            "response_chunks": list(chunks),
            "tags": ["fidelity:wire", "gla"],
            **fields,
        }
    )


def recording(name: str, *exchanges: RecordedExchange | str) -> Recording:
    return Recording(name, exchanges)


def text(version: str, *, signed: bool = False, **fields: Any) -> RecordedExchange:
    """A text in one chunk of a stream."""
    part = {"text": "Yes."} | (SIGNED if signed else {})
    return exchange(chunk(version, part, finish="STOP", **fields))


def calls(
    version: str, *sizes: int, named: bool = True, signed: bool = True, **fields: Any
) -> RecordedExchange:
    """A stream of calls, so many in each chunk."""
    call: Wire = {"name": "f", "args": {}} | ({"id": "abcdefgh"} if named else {})
    parts: list[list[Wire]] = [[{"functionCall": call} for _ in range(size)] for size in sizes]
    parts[0][0] = parts[0][0] | (SIGNED if signed else {})
    last = len(sizes) - 1
    return exchange(
        *(
            chunk(version, *each, finish="STOP" if at == last else "", **fields)
            for at, each in enumerate(parts)
        )
    )
