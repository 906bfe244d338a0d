"""The body of a multipart upload: JSON metadata, then the bytes of the file (RFC 2387)."""

from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser

from sessions_app.emulator.api_errors import invalid
from sessions_app.emulator.decisions import Rule

_BLANK_LINE = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class MultipartUpload:
    """`media_type` is that of the file's own part, or ""."""

    metadata: bytes
    media_type: str
    data: bytes


def parse_multipart(content_type: str, body: bytes) -> MultipartUpload:
    """Raises ApiError (400) for a body without a boundary, cut short, or not of two parts."""
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_boundary("")
    if not boundary or header.get_content_maintype() != "multipart":
        raise invalid("Multipart body does not contain a boundary.", rule=Rule.UPLOAD_INVALID)
    sections = (b"\r\n" + body).split(b"\r\n--" + boundary.encode())
    if not sections[-1].startswith(b"--"):
        raise invalid("Missing end boundary in multipart body.", rule=Rule.UPLOAD_INVALID)
    parts = [_part(section) for section in sections[1:-1]]
    if len(parts) != 2:
        raise invalid("Multipart must have two non-empty parts.", rule=Rule.UPLOAD_INVALID)
    (_, metadata), (media, data) = parts
    return MultipartUpload(metadata, media.get("content-type", ""), data)


def _part(section: bytes) -> tuple[Message, bytes]:
    """The header fields and the content; a part need not have any fields."""
    fields, _, content = (b"\r\n" + section.lstrip(b" \t").removeprefix(b"\r\n")).partition(_BLANK_LINE)
    return BytesHeaderParser().parsebytes(fields.lstrip(b"\r\n") + _BLANK_LINE), content
