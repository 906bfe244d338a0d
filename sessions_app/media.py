"""MIME types by content of the files that Gemini models read, and their size limits."""

INLINE_LIMIT = 14_000_000
"""Bytes of all files inline in one request; a request may have 20 MB, and base64 adds a third."""

FILE_LIMIT = 50_000_000
"""Bytes of one file; files that do not fit inline are uploaded to the provider first."""

DOCUMENT_LIMIT = 20_000_000
"""Bytes of a Word document."""

WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

ARCHIVE = b"PK\x03\x04"
"""First bytes of a Word document, and of any other zip archive."""

COUNT_LIMIT = 10
"""Maximum number of files of a message."""

HEAD_SIZE = 64
"""Number of first bytes that `kind_of` needs."""

INLINE_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""Images displayed inline; not SVG, which can contain scripts."""

PLAYED_TYPES = ("audio/", "video/")

READ_KINDS = "PNG, JPEG, WebP, HEIC, PDF, common audio and video, Word documents, and text in UTF-8"

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mp3"),
    (b"\xff\xfb", "audio/mp3"),
    (b"\xff\xf3", "audio/mp3"),
    (b"\xff\xf2", "audio/mp3"),
    (b"\xff\xf1", "audio/aac"),
    (b"\xff\xf9", "audio/aac"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x00\x00\x01\xba", "video/mpeg"),
    (b"\x00\x00\x01\xb3", "video/mpeg"),
    (b"FLV\x01", "video/x-flv"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/avi"}
_FORM = {b"AIFF": "audio/aiff", b"AIFC": "audio/aiff"}
_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"heim", b"heis"), "image/heic"),
    **dict.fromkeys((b"mif1", b"msf1", b"heif"), "image/heif"),
    **dict.fromkeys((b"M4A ", b"M4B "), "audio/mp4"),
    **dict.fromkeys((b"avif", b"avis"), ""),
    b"qt  ": "video/quicktime",
}
_LABELS = {"image": "Image", "audio": "Audio", "video": "Video", "application/pdf": "PDF"}


def kind_of(head: bytes) -> str:
    """The MIME type of an image, a PDF, audio or video that a model reads; empty for anything else."""
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return _BRANDS.get(brand, "video/3gpp" if brand.startswith(b"3g") else "video/mp4")
    if head[:4] in (b"RIFF", b"FORM"):
        return (_RIFF if head[:4] == b"RIFF" else _FORM).get(head[8:12], "")
    return next((mime for start, mime in _SIGNATURES if head.startswith(start)), "")


def is_text(body: bytes) -> bool:
    """Whether the bytes are UTF-8 text without NUL."""
    try:
        return "\0" not in body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False


def is_shown(mime: str) -> bool:
    """Whether a page may display or play the file inline."""
    return mime in INLINE_IMAGES or mime.startswith(PLAYED_TYPES)


def kind_label(mime: str) -> str:
    """A label such as Image or PDF."""
    return _LABELS.get(mime) or _LABELS.get(mime.partition("/")[0], "File")
