"""What bytes look like to a person, with nothing hidden and nothing lost on the way to HTML."""

import json
from collections.abc import Iterator
from typing import Any

from sessions_app.inspector import figures
from sessions_app.prompt.wire import well_formed

LONGEST_DATA = 400
"""Characters of base64 that a page shows as they are."""

CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
"""Control characters become their pictures (Unicode 2400–2421): a browser drops or replaces the real ones."""

TURNS_OF_DIRECTION = {
    code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
}
"""Bidirectional controls can make text read otherwise than the model reads it."""

VISIBLE: dict[int, int | str] = {**CONTROLS, **TURNS_OF_DIRECTION}


def visible(text: str) -> str:
    """The text with every invisible control shown, fit for an HTML page in UTF-8."""
    return well_formed(text).translate(VISIBLE)


def decoded(body: bytes) -> str:
    """Bytes as they are, for reading; what is not UTF-8 becomes U+FFFD."""
    return visible(body.decode("utf-8", "replace"))


def indented(value: Any) -> str:
    return visible(json.dumps(value, ensure_ascii=False, indent=2))


def pretty(body: bytes) -> str:
    """Indented JSON; what is not JSON is shown as it is.

    The standard parser, not orjson: it keeps integers above 64 bits and lone surrogates, both of
    which occur in what models write.
    """
    try:
        return indented(without_files(json.loads(body)))
    except (ValueError, RecursionError):
        return decoded(body)


def without_files(value: Any) -> Any:
    """The same JSON with the bytes of files told by their size: nobody reads megabytes of base64."""
    if isinstance(value, list):
        return [without_files(item) for item in value]
    if not isinstance(value, dict):
        return value
    told = {key: without_files(item) for key, item in value.items()}
    data = told.get("data")
    if isinstance(data, str) and len(data) > LONGEST_DATA and ("mimeType" in told or "mime_type" in told):
        told["data"] = f"⟨{figures.size(len(data.rstrip('=')) * 3 // 4)} of base64, left out here⟩"
    return told


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
    except (ValueError, RecursionError):
        return (("", visible(text)),)
    pairs = value.items() if isinstance(value, dict) else [("", value)]
    return tuple((visible(key), "\n".join(lines(item))) for key, item in pairs)


def lines(value: Any) -> Iterator[str]:
    """A JSON value as indented lines, one per leaf; strings keep their real line breaks."""
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
