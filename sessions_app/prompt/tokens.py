"""Token estimates, before the provider has counted, and the cached share of what it counted."""

from sessions_app.prompt import wire
from sessions_app.prompt.parts import RawPart, file_of, without_signature

MEDIA_TOKENS = 258
"""Gemini's price of one small image; used for every media part."""


def estimate(text: str | bytes) -> int:
    """Tokens of a text: UTF-8 bytes / 3.3, rounded up. The emulator counts by the same formula."""
    size = len(text) if isinstance(text, bytes) else len(text.encode(errors="replace"))
    return -(-10 * size // 33)


def estimate_part(part: RawPart) -> int:
    """Tokens of one wire part. Signatures are not counted."""
    if "text" in part:
        return estimate(part["text"]) if isinstance(part["text"], str) else 0
    if file_of(part) is not None:
        return MEDIA_TOKENS
    visible = without_signature(part)
    return estimate(wire.dumps(visible)) if visible else 0


def cached_percent(cached: int | None, prompt: int | None) -> int | None:
    """The cached share of a prompt, rounded down, so that 100 means all of it; None where the counts do not
    tell it.
    """
    return None if not prompt or cached is None or cached > prompt else 100 * cached // prompt
