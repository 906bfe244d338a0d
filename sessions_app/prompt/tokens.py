"""Token estimates, before the provider has counted."""

from collections.abc import Mapping
from typing import Any

from sessions_app.prompt import wire

MEDIA_TOKENS = 258
"""What Gemini charges for one small image; used for every media part."""

_MEDIA_KEYS = ("inlineData", "inline_data", "fileData", "file_data")
_SIGNATURE_KEYS = ("thoughtSignature", "thought_signature")


def estimate(text: str | bytes) -> int:
    """Tokens of a text: UTF-8 bytes / 3.3, rounded up. The emulator counts by the same formula."""
    size = len(text) if isinstance(text, bytes) else len(text.encode(errors="replace"))
    return -(-10 * size // 33)


def estimate_part(part: Mapping[str, Any]) -> int:
    """Tokens of one wire part. A signature costs nothing here: its thoughts are billed by the provider."""
    if any(key in part for key in _MEDIA_KEYS):
        return MEDIA_TOKENS
    if "text" in part:
        return estimate(part["text"]) if isinstance(part["text"], str) else 0
    visible = {key: value for key, value in part.items() if key not in _SIGNATURE_KEYS}
    return estimate(wire.dumps(visible)) if visible else 0
