"""Files in contents: inline, or as a reference that each request resolves.

A turn references a file that is too large for a request by a URI of our own, so that its bytes never
change; `with_provider_uris` replaces it by the URI of the copy at the provider.
"""

import base64
import re
from collections.abc import Mapping

from sessions_app.prompt import wire
from sessions_app.prompt.content_memory import remembered
from sessions_app.prompt.parts import (
    URI_KEY,
    FileData,
    RawPart,
    file_data,
    file_of,
    inline_data,
    raw_parts,
    text_part,
    with_parts,
)

ADDRESS = "pipeweb:"
"""Scheme of our URIs; the attachment's public id follows."""

_ADDRESS = re.compile(b"(" + URI_KEY + b")" + ADDRESS.encode() + b'([0-9a-f-]{36})"')


def inline_part(body: bytes, mime: str, name: str) -> RawPart:
    return inline_data(base64.b64encode(body).decode(), mime, name)


def reference_part(key: str, mime: str, name: str) -> RawPart:
    """A file that is uploaded to the provider before the request is sent; `key` is the attachment's id."""
    return file_data(ADDRESS + key, mime, name)


def media_in(wire_bytes: bytes) -> tuple[tuple[int, FileData], ...]:
    """The files of a content, each with the index of its part."""
    found = enumerate(map(file_of, raw_parts(wire_bytes)))
    return tuple((index, file) for index, file in found if file is not None)


def attachment_key(file: FileData) -> str:
    """The id of the referenced attachment; empty for any other file."""
    return file.uri.removeprefix(ADDRESS) if file.uri.startswith(ADDRESS) else ""


def bytes_of(file: FileData) -> bytes | None:
    """The bytes of an inline file; None for any other file and for invalid base64."""
    if not file.data:
        return None
    standard = file.data.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except ValueError:
        return None


@remembered
def referenced_keys(wire_bytes: bytes) -> tuple[str, ...]:
    """The ids of the attachments that a content references."""
    return tuple(found[2].decode() for found in _ADDRESS.finditer(wire_bytes))


def with_provider_uris(wire_bytes: bytes, uris: Mapping[str, str]) -> bytes:
    """The content with the provider's URIs instead of ours; `uris` by attachment id.

    A file without one is replaced by a text part that says so.
    """
    if set(referenced_keys(wire_bytes)) - uris.keys():
        wire_bytes = with_parts(wire_bytes, [_gone(part, uris) for part in raw_parts(wire_bytes)])
    return _ADDRESS.sub(lambda found: _provider_uri(found, uris), wire_bytes)


def _provider_uri(found: re.Match[bytes], uris: Mapping[str, str]) -> bytes:
    uri = uris.get(found[2].decode())
    return found[1] + wire.escaped(uri) + b'"' if uri else found[0]


def _gone(part: RawPart, uris: Mapping[str, str]) -> RawPart:
    file = file_of(part)
    if file is None or not (key := attachment_key(file)) or key in uris:
        return part
    return text_part(f"[The file {file.name or 'that stood here'} is not available any more.]")
