"""Dialects: other formats than Gemini's in which requests are sent and events received.

Names are those of `Exchange.dialect`. `renditions` shows other formats that are never sent.
"""

from collections.abc import Callable
from typing import Any

from sessions_app.prompt.dialects import openai, openai_chunks

_REQUESTS: dict[str, Callable[[str, bytes], bytes]] = {"openai": openai.openai_request}
_CHUNKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"openai": openai_chunks.gemini_chunk}


def request_in(dialect: str, model: str, body: bytes) -> bytes:
    """The generateContent body in this dialect; unchanged for Gemini's own."""
    translate = _REQUESTS.get(dialect)
    return translate(model, body) if translate else body


def chunk_translator(dialect: str) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """The function from an event of this dialect to Gemini's form; None for Gemini's own."""
    return _CHUNKS.get(dialect)
