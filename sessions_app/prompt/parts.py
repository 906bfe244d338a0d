"""Reading and writing the parts of a content; no other module knows their wire keys.

Keys arrive in camelCase (REST) and in snake_case (proto JSON, SDK dumps); camelCase is written. Parts are
never changed in place and keep unknown keys.
"""

import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.prompt import wire

RawPart = dict[str, Any]

PARTS_KEY, TEXT_KEY = "parts", "text"
"""The members of a content and of a part whose places `logical_prompt` needs."""

URI_KEY = rb'"fileUri":\s*"'
"""Pattern of the JSON before the URI of a file."""

_KINDS = {
    "text": "text",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
}
_BESIDE = {
    "thought": "thought",
    "thoughtSignature": "thought_signature",
    "partMetadata": "part_metadata",
    "videoMetadata": "video_metadata",
    "mediaResolution": "media_resolution",
}
_KNOWN = frozenset({*_KINDS, *_KINDS.values(), *_BESIDE, *_BESIDE.values()})
_CALL_KEYS = ("functionCall", "function_call")
_FILE_KEYS = ("inlineData", "inline_data", "fileData", "file_data")
_SIGNATURE_KEYS = ("thoughtSignature", "thought_signature")
_CODE_KEYS = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")


@dataclass(frozen=True, slots=True)
class FileData:
    """A file in a part: `data` is base64, None if the file is at `uri`."""

    mime: str
    name: str
    data: str | None
    uri: str

    @property
    def size(self) -> int | None:
        """Bytes of an inline file, else None."""
        return None if self.data is None else len(self.data.rstrip("=")) * 3 // 4


@dataclass(frozen=True, slots=True)
class PartView:
    """One part for reading; `index` is its position in the content, `raw` the part as received."""

    index: int
    raw: RawPart

    @property
    def kind(self) -> str:
        """`thought`, one of the kinds of the protocol in snake_case, or `other`."""
        if is_thought(self.raw):
            return "thought"
        held = {key for key, value in self.raw.items() if value is not None}
        found = (kind for key, kind in _KINDS.items() if key in held or kind in held)
        # A signature alone is an empty text: some clients leave that out.
        return next(found, "other" if held.difference(_SIGNATURE_KEYS) else "text")

    @property
    def text(self) -> str:
        """The text of a text part or a thought; empty for any other part."""
        text = self.raw.get("text")
        return text if isinstance(text, str) else ""

    @property
    def signature(self) -> bytes | None:
        """The decoded thought signature; None when the part carries none."""
        value = signature_of(self.raw)
        return None if value is None else decode_signature(value)

    @property
    def call(self) -> dict[str, Any] | None:
        """The function call: `name`, `args` and perhaps `id`."""
        return call_of(self.raw)

    @property
    def response(self) -> dict[str, Any] | None:
        """The function response: `name`, `response` and perhaps `id`."""
        return response_of(self.raw)

    @property
    def file(self) -> FileData | None:
        return file_of(self.raw)

    @property
    def code(self) -> dict[str, Any] | None:
        """Code that the provider runs: `language` and `code`."""
        return _object(self.raw, "executableCode", "executable_code")

    @property
    def code_result(self) -> dict[str, Any] | None:
        """The result of such code: `outcome` and `output`."""
        return _object(self.raw, "codeExecutionResult", "code_execution_result")

    @property
    def unknown(self) -> tuple[str, ...]:
        """The unknown keys of the part, in wire order."""
        return tuple(key for key in self.raw if key not in _KNOWN)


def parts_of(wire_bytes: bytes) -> tuple[PartView, ...]:
    """The parts of a content's JSON that are objects. Raises ValueError when it is not JSON."""
    return tuple(PartView(index, part) for index, part in enumerate(raw_parts(wire_bytes)))


def raw_parts(wire_bytes: bytes) -> list[RawPart]:
    """The parts as received. Raises ValueError when it is not JSON."""
    return parts_in(wire.loads(wire_bytes))


def parts_in(content: Any) -> list[RawPart]:
    """The same for a parsed content; empty for anything else. One part may stand for a list of one."""
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in (parts if isinstance(parts, list) else [parts]) if isinstance(part, dict)]


def parts_value(content: Mapping[str, Any]) -> Any:
    """What stands where the parts of a content should be."""
    return content.get("parts")


def as_part(value: Mapping[str, Any]) -> RawPart:
    """The keys of a part in an object that has others beside them."""
    return {key: one for key, one in value.items() if key in _KNOWN and one is not None}


def text_of(wire_bytes: bytes, between: str = "") -> str:
    """The text without thoughts; `between` stands between that of two parts."""
    return between.join(view.text for view in parts_of(wire_bytes) if view.kind == "text")


def plain_key(key: str) -> str:
    """A key of a part in snake_case, however it was written."""
    return _KINDS.get(key) or _BESIDE.get(key, key)


def is_thought(part: Mapping[str, Any]) -> bool:
    return part.get("thought") is True


def call_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    return _object(part, "functionCall", "function_call")


def response_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    return _object(part, "functionResponse", "function_response")


def file_of(part: Mapping[str, Any]) -> FileData | None:
    """The file of a part, inline or referenced, or None."""
    found = next((part[key] for key in _FILE_KEYS if isinstance(part.get(key), dict)), None)
    if found is None:
        return None
    data, uri = found.get("data"), _either(found, "fileUri", "file_uri")
    return FileData(
        mime=str(_either(found, "mimeType", "mime_type") or ""),
        name=_name(part),
        data=data if isinstance(data, str) else None,
        uri=str(uri or ""),
    )


def code_in(part: Mapping[str, Any]) -> dict[str, Any]:
    """The code and code results of a part, under their wire keys."""
    return {key: part[key] for key in _CODE_KEYS if key in part}


def signature_of(part: Mapping[str, Any]) -> str | None:
    """The thought signature as received, which is sent back unchanged."""
    value = part.get("thoughtSignature")
    if value is None:
        value = part.get("thought_signature")
    return value if isinstance(value, str) else None


def decode_signature(value: str) -> bytes:
    """Signature bytes from either base64 alphabet, padded or not; the text's bytes if it is not base64.

    For display and comparison only.
    """
    standard = value.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return binascii.a2b_base64(standard + "=" * (-len(standard) % 4), strict_mode=True)
    except (binascii.Error, ValueError):
        return value.encode(errors="replace")


def may_be_signed(wire_bytes: bytes) -> bool:
    """False for JSON without a signature; does not parse it."""
    return any(key.encode() in wire_bytes for key in _SIGNATURE_KEYS)


def holds_media(wire_bytes: bytes) -> bool:
    """False for JSON without a file; does not parse it."""
    return any(b'"%b"' % key.encode() in wire_bytes for key in _FILE_KEYS)


def is_file_object(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object holds an inline file: `data` and a media type."""
    return isinstance(value.get("data"), str) and _either(value, "mimeType", "mime_type") is not None


def without_signature(part: RawPart) -> RawPart:
    return {key: value for key, value in part.items() if key not in _SIGNATURE_KEYS}


def with_signature(part: RawPart, signature: str) -> RawPart:
    """The part with this signature (base64) instead of its own."""
    return without_signature(part) | {"thoughtSignature": signature}


def without_call(part: RawPart) -> RawPart:
    return {key: value for key, value in part.items() if key not in _CALL_KEYS}


def with_call(part: RawPart, call: Mapping[str, Any]) -> RawPart:
    """The part with another call, under the same wire key."""
    return part | {next((key for key in _CALL_KEYS if key in part), _CALL_KEYS[0]): dict(call)}


def content(role: str, parts: Sequence[RawPart]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def with_parts(wire_bytes: bytes, parts: Sequence[RawPart]) -> bytes:
    """The content with other parts."""
    return wire.dumps(wire.loads(wire_bytes) | {"parts": list(parts)})


def text_part(text: str) -> RawPart:
    return {"text": wire.well_formed(text)}


def call_part(name: str, args: Mapping[str, Any], *, call_id: str = "") -> RawPart:
    return {"functionCall": _with_id(call_id) | {"name": name, "args": dict(args)}}


def response_part(name: str, response: Mapping[str, Any], *, call_id: str = "") -> RawPart:
    return {"functionResponse": _with_id(call_id) | {"name": name, "response": dict(response)}}


def inline_data(data: str, mime: str, name: str) -> RawPart:
    """An inline file, `data` in base64. Models do not read its name, which is in `partMetadata`."""
    return {"inlineData": {"mimeType": mime, "data": data}, "partMetadata": {"name": name}}


def file_data(uri: str, mime: str, name: str) -> RawPart:
    return {"fileData": {"mimeType": mime, "fileUri": uri}, "partMetadata": {"name": name}}


def _with_id(call_id: str) -> dict[str, Any]:
    return {"id": call_id} if call_id else {}


def _either(value: Mapping[str, Any], camel: str, snake: str) -> Any:
    found = value.get(camel)
    return value.get(snake) if found is None else found


def _object(part: Mapping[str, Any], camel: str, snake: str) -> dict[str, Any] | None:
    found = part.get(camel)
    if found is None:
        found = part.get(snake)
    return found if isinstance(found, dict) else None


def _name(part: Mapping[str, Any]) -> str:
    metadata = _object(part, "partMetadata", "part_metadata")
    name = metadata.get("name") if metadata else None
    return name if isinstance(name, str) else ""
