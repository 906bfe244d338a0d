"""Bytes as Google writes them (recorded-traffic "Streams").

An event is one line with a space after colons and none after commas; a whole answer is
indented by two. Text is raw UTF-8 and only `<` and `>` are escaped.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

JSON_TYPE = "application/json; charset=UTF-8"
EVENT_TYPE = "text/event-stream"


def line(value: Any) -> bytes:
    return _escape(json.dumps(value, ensure_ascii=False, separators=(",", ": ")))


def pretty(value: Any) -> bytes:
    return _escape(json.dumps(value, ensure_ascii=False, indent=2)) + b"\n"


def events(chunks: Sequence[Any]) -> Iterator[bytes]:
    """Server-sent events: what `alt=sse` asks for."""
    return (b"data: " + line(chunk) + b"\r\n\r\n" for chunk in chunks)


def array(chunks: Sequence[Any]) -> Iterator[bytes]:
    """One indented JSON array, an element at a time: a stream without `alt=sse`."""
    lead = b"["
    for chunk in chunks:
        yield lead + pretty(chunk).rstrip(b"\n")
        lead = b",\r\n"
    yield b"]" if lead != b"[" else b"[]"


def _escape(text: str) -> bytes:
    return text.replace("<", "\\u003c").replace(">", "\\u003e").encode()
