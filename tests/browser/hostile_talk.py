"""Text that attacks the page, wherever a person, a file or the provider can put one."""

import json
import uuid
from pathlib import Path
from typing import Any

from tests.browser.talks import exported
from tests.emulator.test_replay import exchange
from tests.markup.test_rendering import HOSTILE

PAYLOADS = (
    *(text.encode("utf-8", "replace").decode() for text in HOSTILE),
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</textarea></title></template></script><script>alert(1)</script>",
    '<div hx-get="https://example.org/x" hx-trigger="load" hx-on:htmx:load="alert(1)"></div>',
    '<meta http-equiv="refresh" content="0;url=https://example.org/">',
    '<base href="https://example.org/"><link rel=stylesheet href=//example.org/x.css>',
    '<form action="https://example.org/"><button autofocus onfocus=alert(1)>x</button></form>',
    "![x](https://example.org/pixel.png)",
    "$\\href{javascript:alert(1)}{x}$ $$<img src=x onerror=alert(1)>$$",
    "{{ 7|add:7 }} {% debug %} ${alert(1)}",
)
"""Those of the renderer, and some that are meant for attributes, templates, htmx and formulas."""

SHORT = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
STORABLE = [text.replace("\0", "") for text in PAYLOADS]
ALL = "\n\n".join(text for text in STORABLE if "```" not in text)
ASKED = "Say all of it"


def hostile_export() -> dict[str, Any]:
    """A conversation whose every field attacks; an answer has a thought, a question for each payload."""
    talk = exported([(text, text) for text in PAYLOADS], {})
    for turn in talk["turns"]:
        if turn["kind"] == "model_response":
            (part,) = json.loads(turn["content"])["parts"]
            turn["content"] = json.dumps({"role": "model", "parts": [part | {"thought": True}, part]})
    talk["session"] |= {"title": SHORT, "purpose": ALL, "background": ALL, "args": {SHORT: SHORT, "a": ALL}}
    talk["panels"] = {
        "scratchpad": [
            {"position": at, "title": SHORT, "text": text} for at, text in enumerate(STORABLE, start=1)
        ],
        "todos": [{"position": at, "title": text[:200]} for at, text in enumerate(STORABLE, start=1)],
        "logs": [{"text": ALL}],
        "artifacts": [{"path": SHORT}],
        "file_references": [{"path": SHORT}],
    }
    return talk


def write_recording(folder: Path) -> None:
    """What the emulator streams to `ASKED`: thoughts, text in small pieces, calls, files, odd words."""
    long = "\n\n".join(PAYLOADS)
    pieces = [long[at : at + 7] for at in range(0, len(long), 7)]
    parts = [{"text": piece, "thought": True} for piece in pieces[:80]]
    parts += [{"text": piece} for piece in pieces]
    parts += [
        {"executableCode": {"language": SHORT, "code": ALL}},
        {"codeExecutionResult": {"outcome": SHORT, "output": ALL}},
        {"inlineData": {"mimeType": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"}},
        {"fileData": {"mimeType": SHORT, "fileUri": "javascript:alert(1)"}},
        {"functionCall": {"name": SHORT, "args": {SHORT: ALL}}},
    ]
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts
    ]
    chunks[-1]["candidates"][0] |= {"finishReason": "STOP", "finishMessage": SHORT} | _hostile_sources(long)
    told = {"modelVersion": SHORT, "responseId": SHORT, "usageMetadata": {"promptTokenCount": 1}}
    contents = [{"role": "user", "parts": [{"text": ASKED}]}]
    recorded = exchange({"contents": contents}, *(chunk | told for chunk in chunks))
    (folder / f"{uuid.uuid4()}.json").write_text(json.dumps({"exchanges": [recorded]}))


def _hostile_sources(text: str) -> dict[str, Any]:
    """Sources whose names and addresses attack, marked all over the text."""
    addresses = (
        *STORABLE,
        "javascript:alert(1)",
        " java\nscript:alert(1)",
        "data:text/html,<script>alert(1)",
    )
    chunks = [{"web": {"uri": one, "title": one}} for one in addresses]
    ends = range(10, len(text.encode()), 40)
    supports = [{"segment": {"endIndex": end}, "groundingChunkIndices": [end % len(chunks)]} for end in ends]
    return {
        "groundingMetadata": {
            "groundingChunks": chunks,
            "groundingSupports": supports,
            "webSearchQueries": STORABLE,
            "searchEntryPoint": {"renderedContent": SHORT},
        },
        "citationMetadata": {"citationSources": [{"endIndex": 30, "uri": SHORT, "license": SHORT}]},
        "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": SHORT, "urlRetrievalStatus": SHORT}]},
    }
