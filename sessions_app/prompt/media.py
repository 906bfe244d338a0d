"""Files in contents: inside the part, or by an address that is resolved for each request.

A file too large for a request is named in its turn by an address of our own, so that the turn's bytes
never change; which copy at the provider it means is decided when a request is made (`readdressed`).
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.turns import raw_parts

ADDRESS = "pipeweb:"
"""What our addresses begin with; the attachment's public id follows."""

_ADDRESS = re.compile(rb'("fileUri":\s*")' + ADDRESS.encode() + rb'([0-9a-f-]{36})"')
_KEYS = ("inlineData", "inline_data", "fileData", "file_data")


@dataclass(frozen=True, slots=True)
class MediaPart:
    """A file in a content: at part `index`; `size` in bytes, None where it is not inside."""

    index: int
    mime: str
    name: str
    size: int | None
    key: str = ""
    """The id of the attachment that an address names."""


def inline_part(body: bytes, mime: str, name: str) -> dict[str, Any]:
    """A file inside the request. Its name stands in `partMetadata`, which no model reads."""
    data = base64.b64encode(body).decode()
    return {"inlineData": {"mimeType": mime, "data": data}, "partMetadata": {"name": name}}


def addressed_part(key: str, mime: str, name: str) -> dict[str, Any]:
    """A file that lies at the provider when the request is sent."""
    return {"fileData": {"mimeType": mime, "fileUri": ADDRESS + key}, "partMetadata": {"name": name}}


def holds_media(wire_bytes: bytes) -> bool:
    """False for a content without a file: a look at the bytes, since most contents are text."""
    return any(b'"%b"' % key.encode() in wire_bytes for key in _KEYS)


def media_in(parts: list[dict[str, Any]]) -> tuple[MediaPart, ...]:
    """The files among the parts of a content, without their bytes."""
    found = ((index, part, file_of(part)) for index, part in enumerate(parts))
    return tuple(_media(index, part, file) for index, part, file in found if file is not None)


def file_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The `inlineData` or `fileData` object of a part."""
    return next((part[key] for key in _KEYS if isinstance(part.get(key), dict)), None)


def bytes_of(part: Mapping[str, Any]) -> bytes | None:
    """What an inline part holds; None for any other part and for what is not base64."""
    data = (file_of(part) or {}).get("data")
    if not isinstance(data, str) or not data:
        return None
    standard = data.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except ValueError:
        return None


def addresses_in(wire_bytes: bytes) -> tuple[str, ...]:
    """The ids that a content names by address."""
    return tuple(found[2].decode() for found in _ADDRESS.finditer(wire_bytes))


def readdressed(wire_bytes: bytes, uris: Mapping[str, str]) -> bytes:
    """The content with the provider's addresses in the place of ours.

    A file that is not in `uris` is gone: a sentence that says so takes its place.
    """
    if set(addresses_in(wire_bytes)) - uris.keys():
        parts = [_stand_in(part, uris) for part in raw_parts(wire_bytes)]
        wire_bytes = wire.dumps(wire.loads(wire_bytes) | {"parts": parts})
    return _ADDRESS.sub(lambda found: _placed(found, uris), wire_bytes)


def _placed(found: re.Match[bytes], uris: Mapping[str, str]) -> bytes:
    uri = uris.get(found[2].decode())
    return found[1] + wire.escaped(uri) + b'"' if uri else found[0]


def _stand_in(part: dict[str, Any], uris: Mapping[str, str]) -> dict[str, Any]:
    uri = str((file_of(part) or {}).get("fileUri", ""))
    if not uri.startswith(ADDRESS) or uri.removeprefix(ADDRESS) in uris:
        return part
    return {"text": f"[The file {_name(part) or 'that stood here'} is not available any more.]"}


def _media(index: int, part: Mapping[str, Any], file: Mapping[str, Any]) -> MediaPart:
    mime = str(file.get("mimeType", file.get("mime_type", "")))
    data, uri = file.get("data"), str(file.get("fileUri", file.get("file_uri", "")))
    size = len(data.rstrip("=")) * 3 // 4 if isinstance(data, str) else None
    key = uri.removeprefix(ADDRESS) if uri.startswith(ADDRESS) else ""
    return MediaPart(index, mime, _name(part), size, key)


def _name(part: Mapping[str, Any]) -> str:
    told = part.get("partMetadata", part.get("part_metadata"))
    name = told.get("name") if isinstance(told, dict) else None
    return name if isinstance(name, str) else ""
