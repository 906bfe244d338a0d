"""Bytes, JSON and figures as readable text."""

import json
from collections.abc import Iterator
from typing import Any

from sessions_app.prompt.parts import is_file_object
from sessions_app.prompt.tokens import cached_percent
from sessions_app.prompt.wire import TOO_DEEP, well_formed

LONGEST_DATA = 400
"""Characters of base64 above which the data of a file is replaced by its size."""

CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
"""Control characters as Unicode control pictures (2400–2421): browsers drop or replace the originals."""

BIDI_CONTROLS = {
    code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
}
"""Bidirectional controls would reorder the text on the page, but not for the model."""

VISIBLE: dict[int, int | str] = {**CONTROLS, **BIDI_CONTROLS}


def visible(text: str) -> str:
    """The text with control characters replaced by visible ones; encodable as UTF-8."""
    return well_formed(text).translate(VISIBLE)


def decoded(body: bytes) -> str:
    """Bytes as visible text; invalid UTF-8 becomes U+FFFD."""
    return visible(body.decode("utf-8", "replace"))


def indented(value: Any) -> str:
    """Indented JSON; a placeholder for what is nested too deeply."""
    try:
        return visible(json.dumps(value, ensure_ascii=False, indent=2))
    except RecursionError:
        return TOO_DEEP


def pretty(body: bytes) -> str:
    """Indented JSON; other bytes as they are.

    The standard parser, since orjson rejects integers above 64 bits and lone surrogates.
    """
    try:
        return indented(without_files(json.loads(body)))
    except (ValueError, RecursionError):
        return decoded(body)


def without_files(value: Any) -> Any:
    """The same JSON with long base64 data replaced by its size."""
    if isinstance(value, list):
        return [without_files(item) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {key: without_files(item) for key, item in value.items()}
    data = copy.get("data")
    if is_file_object(copy) and isinstance(data, str) and len(data) > LONGEST_DATA:
        copy["data"] = f"⟨{size(len(data.rstrip('=')) * 3 // 4)} of base64, left out here⟩"
    return copy


def segment_text(wire: bytes) -> str:
    """The text that a JSON-escaped piece of a wire string stands for."""
    try:
        return visible(json.loads(b'"' + wire + b'"'))
    except ValueError:
        return decoded(wire)


def outline(text: str) -> tuple[tuple[str, str], ...]:
    """The top level of a JSON object as (key, readable value) pairs; other text as one unnamed value."""
    try:
        value = json.loads(text)
        pairs = value.items() if isinstance(value, dict) else [("", value)]
        return tuple((visible(key), "\n".join(lines(item))) for key, item in pairs)
    except (ValueError, RecursionError):
        return (("", visible(text)),)


def lines(value: Any) -> Iterator[str]:
    """A JSON value as indented lines; strings keep their line breaks."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _below(f"{visible(key)}:", item)
    elif isinstance(value, list):
        for item in value:
            yield from _below("-", item)
    elif isinstance(value, str):
        yield from visible(value).split("\n")
    else:
        yield json.dumps(value)


def _below(lead: str, item: Any) -> Iterator[str]:
    first, *rest = [*lines(item)] or ["[]" if isinstance(item, list) else "{}"]
    if rest and (lead != "-" or isinstance(item, list)):
        yield lead
        rest = [first, *rest]
    else:
        yield f"{lead} {first}"
    yield from (f"  {line}" for line in rest)


NOTHING = "–"
"""For figures that the provider did not report."""


def thousands(count: int | None) -> str:
    return NOTHING if count is None else f"{count:,}"


def size(count: int | None) -> str:
    """Bytes in decimal units: 812 B, 12.4 kB, 1.1 MB."""
    if count is None:
        return NOTHING
    if count < 1000:
        return f"{count} B"
    if count < 999_950:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:.1f} MB"


def duration(milliseconds: float | None) -> str:
    """Milliseconds below a second, seconds above: 0.4 ms, 840 ms, 12.4 s."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.2f} s"


def share(part: int | None, whole: int | None) -> str:
    percent = cached_percent(part, whole)
    return NOTHING if percent is None else f"{percent} %"
