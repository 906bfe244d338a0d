"""What a file is, by its content and never by its name: the kinds that Gemini models read, and the sizes
in which they may be sent."""

INLINE_LIMIT = 14_000_000
"""Bytes of the files that travel inside one request, those of earlier messages included; a request may
have 20 MB, and base64 adds a third."""

FILE_LIMIT = 50_000_000
"""Bytes of one file; what does not fit inside the request is uploaded to the provider before it."""

COUNT_LIMIT = 10
"""Files of one message."""

HEAD = 64
"""Bytes from the beginning of a file that `kind_of` needs."""

SHOWN = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""Images that a page shows in place. SVG is not among them: it is a document that can hold scripts."""

PLAYED = ("audio/", "video/")

READ_KINDS = "PNG, JPEG, WebP, HEIC, PDF, common audio and video, and text in UTF-8"

_HEADS = (
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
_WORDS = {"image": "Image", "audio": "Audio", "video": "Video", "application/pdf": "PDF"}


def kind_of(head: bytes) -> str:
    """The MIME type of an image, a PDF, audio or video that a model reads; empty for anything else."""
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return _BRANDS.get(brand, "video/3gpp" if brand.startswith(b"3g") else "video/mp4")
    if head[:4] in (b"RIFF", b"FORM"):
        return (_RIFF if head[:4] == b"RIFF" else _FORM).get(head[8:12], "")
    return next((mime for start, mime in _HEADS if head.startswith(start)), "")


def is_text(body: bytes) -> bool:
    """Whether the bytes are text in UTF-8, as references are."""
    try:
        return "\0" not in body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False


def is_shown(mime: str) -> bool:
    """Whether a page may show or play it in place; anything else is only downloaded."""
    return mime in SHOWN or mime.startswith(PLAYED)


def words_for(mime: str) -> str:
    """What a person calls such a file."""
    return _WORDS.get(mime) or _WORDS.get(mime.partition("/")[0], "File")
