"""Word documents and web pages as Markdown. Called in a worker only: what comes in may be hostile."""

import zlib
from dataclasses import dataclass
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from sessions_app.error_codes import DocumentProblem
from sessions_app.errors import DocumentRefused

UNPACKED_LIMIT = 100_000_000
"""Bytes of a document's entries together."""

ENTRY_LIMIT = 2_000
TEXT_LIMIT = 4_900_000
"""Bytes of a text in UTF-8, a little below `workspace.UPLOAD_LIMIT`."""

HTML_TYPES = ("text/html", "application/xhtml+xml")
TEXT_TYPES = ("text/plain", "text/markdown", "text/csv", "text/xml", "application/json", "application/xml")

DAMAGED = (BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, ValueError, OSError)
"""What zipfile raises for bytes that are not as the archive says."""

_DOCUMENT = "word/document.xml"
_DTD = b"<!DOCTYPE"


@dataclass(frozen=True, slots=True)
class Text:
    title: str
    text: str


def document_text(body: bytes) -> Text:
    """Raises DocumentRefused, and whatever the library raises for a damaged document."""
    check_archive(body)
    import mammoth

    no_images = mammoth.images.img_element(_no_image)
    html = mammoth.convert_to_html(BytesIO(body), convert_image=no_images).value
    return _checked("", _markdown(html))


def check_archive(body: bytes) -> None:
    """Raises DocumentRefused for what is no Word document, and for one that unpacks to too much."""
    try:
        with ZipFile(BytesIO(body)) as archive:
            entries = archive.infolist()
            if _DOCUMENT not in archive.namelist():
                raise DocumentRefused(DocumentProblem.NO_DOCUMENT)
            # An entry is never read beyond its declared size.
            if len(entries) > ENTRY_LIMIT or sum(entry.file_size for entry in entries) > UNPACKED_LIMIT:
                raise DocumentRefused(DocumentProblem.ARCHIVE_TOO_LARGE, limit=UNPACKED_LIMIT)
            for entry in entries:
                if entry.filename.endswith((".xml", ".rels")) and _has_dtd(archive.read(entry)):
                    raise DocumentRefused(DocumentProblem.BROKEN_DOCUMENT)
    except DAMAGED as error:
        raise DocumentRefused(DocumentProblem.BROKEN_DOCUMENT) from error


def _has_dtd(xml: bytes) -> bool:
    """Where entities could be declared; no program that writes documents does."""
    text = xml.replace(b"\0", b"").upper()
    return _DTD in text


def page_text(body: bytes, mime: str, charset: str, url: str) -> Text:
    """Raises DocumentRefused."""
    if mime in TEXT_TYPES or (mime.startswith("text/") and mime not in HTML_TYPES):
        return _checked("", _decoded(body, charset))
    if mime not in HTML_TYPES:
        raise DocumentRefused(DocumentProblem.WRONG_TYPE, mime=mime)
    if not body.strip():
        raise DocumentRefused(DocumentProblem.NO_TEXT)
    import readability

    try:
        page = readability.Document(_decoded(body, charset), url=url)
        title, main = page.short_title(), page.summary(html_partial=True)
    except readability.readability.Unparseable as error:
        raise DocumentRefused(DocumentProblem.UNREADABLE) from error
    return _checked(title, _markdown(main))


def _decoded(body: bytes, charset: str) -> str:
    for name in (charset, "utf-8-sig"):
        try:
            return body.decode(name)
        except (LookupError, ValueError):  # "undefined" is the name of a codec that refuses everything
            continue
    return body.decode("utf-8", "replace")


def _markdown(html: str) -> str:
    from markdownify import markdownify

    return str(markdownify(html, heading_style="ATX", strip=["img", "script", "style"]))


def _no_image(_: object) -> dict[str, str]:
    return {"src": ""}


def _checked(title: str, text: str) -> Text:
    """Raises DocumentRefused where no text is left, or too much."""
    lines = (line.rstrip() for line in text.replace("\0", "").splitlines())
    found = "\n".join(lines).strip()
    if not found:
        raise DocumentRefused(DocumentProblem.NO_TEXT)
    if len(found.encode(errors="replace")) > TEXT_LIMIT:
        raise DocumentRefused(DocumentProblem.TEXT_TOO_LARGE, limit=TEXT_LIMIT)
    return Text(" ".join(title.split())[:200], found)
