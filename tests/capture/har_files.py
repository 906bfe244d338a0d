"""HTTP archives as other programs write them."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.capture.conversations import body_of, user
from tests.factories import text_chunk

GOOGLE = "https://generativelanguage.googleapis.com"
STREAM = "/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse"
BEGAN = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)

FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
ANSWER = b"data: " + text_chunk("Double it. \xc3\xa9".encode().decode()) + b"\r\n\r\n"


def archive(*entries: dict[str, Any]) -> bytes:
    log = {"version": "1.2", "creator": {"name": "t", "version": "1"}, "pages": [], "entries": entries}
    return json.dumps({"log": log}, ensure_ascii=False).encode()


def devtools_entry(body: bytes | None = None, at: float = 0, **fields: Any) -> dict[str, Any]:
    """As Chromium exports it: HTTP/2's own headers, members with an underscore, times in milliseconds."""
    entry = {
        "_initiator": {"type": "script"},
        "_priority": "High",
        "_resourceType": "fetch",
        "cache": {},
        "connection": "443",
        "pageref": "page_1",
        "request": _devtools_request(body_of([FIRST]) if body is None else body),
        "response": _devtools_answer(),
        "serverIPAddress": "[::1]",
        "startedDateTime": (BEGAN + timedelta(seconds=at)).isoformat().replace("+00:00", "Z"),
        "time": 480.5,
        "timings": {"blocked": 1.5, "dns": -1, "connect": -1, "send": 1, "wait": 118, "receive": 360},
    }
    return entry | fields


def _devtools_request(sent: bytes) -> dict[str, Any]:
    return {
        "method": "POST",
        "url": f"{GOOGLE}{STREAM}",
        "httpVersion": "h2",
        "headers": [
            {"name": ":authority", "value": "generativelanguage.googleapis.com"},
            {"name": "content-type", "value": "application/json"},
            {"name": "cookie", "value": "SID=secret-cookie"},
            {"name": "x-goog-api-key", "value": "secret-key"},
            {"name": "user-agent", "value": "Mozilla/5.0 (X11) loaf-page/2"},
        ],
        "queryString": [{"name": "alt", "value": "sse"}],
        "cookies": [{"name": "SID", "value": "secret-cookie"}],
        "headersSize": -1,
        "bodySize": len(sent),
        "postData": {"mimeType": "application/json", "text": sent.decode()},
    }


def _devtools_answer() -> dict[str, Any]:
    return {
        "status": 200,
        "statusText": "",
        "httpVersion": "h2",
        "headers": [
            {"name": "content-type", "value": "text/event-stream"},
            {"name": "content-encoding", "value": "gzip"},
            {"name": "set-cookie", "value": "NID=secret-cookie"},
        ],
        "cookies": [],
        "content": {
            "size": len(ANSWER),
            "mimeType": "text/event-stream",
            "text": base64.b64encode(ANSWER).decode(),
            "encoding": "base64",
        },
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
        "_transferSize": 900,
        "_error": None,
    }


def mitmproxy_entry(body: bytes, at: float = 0, *, url: str = "", method: str = "POST") -> dict[str, Any]:
    """As mitmproxy's `hardump` writes it: text of every body, no pages, times with a zone."""
    return {
        "startedDateTime": (BEGAN + timedelta(seconds=at)).isoformat(),
        "time": 210,
        "request": {
            "method": method,
            "url": url or f"{GOOGLE}/v1beta/models/gemini-3-flash-preview:generateContent?key=secret-key",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [{"name": "User-Agent", "value": "google-genai-sdk/1.75"}],
            "queryString": [{"name": "key", "value": "secret-key"}],
            "headersSize": 120,
            "bodySize": len(body),
            "postData": {"mimeType": "application/json", "text": body.decode(), "params": []},
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [{"name": "Content-Type", "value": "application/json; charset=UTF-8"}],
            "content": {
                "size": 300,
                "compression": 0,
                "mimeType": "application/json",
                "text": text_chunk("Half an hour.").decode(),
            },
            "redirectURL": "",
            "headersSize": 80,
            "bodySize": 300,
        },
        "cache": {},
        "timings": {"connect": 20, "ssl": 30, "send": 1, "receive": 10, "wait": 149},
        "serverIPAddress": "203.0.113.7",
    }
