"""Files are what their bytes say."""

import pytest

from sessions_app.media import is_shown, is_text, kind_label, kind_of


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x18ftypheic", "image/heic"),
        (b"%PDF-1.7", "application/pdf"),
        (b"ID3\x04", "audio/mp3"),
        (b"RIFF....WAVEfmt ", "audio/wav"),
        (b"\0\0\0\x18ftypM4A ", "audio/mp4"),
        (b"\0\0\0\x18ftypisom", "video/mp4"),
        (b"\0\0\0\x14ftypqt  ", "video/quicktime"),
        (b"\x1aE\xdf\xa3", "video/webm"),
        (b"GIF89a", ""),
        (b"\0\0\0\x18ftypavif", ""),
        (b"<svg xmlns=", ""),
        (b"MZ\x90\0", ""),
        (b"", ""),
    ],
)
def test_the_kind_of_a_file_is_read_from_its_beginning(head: bytes, mime: str) -> None:
    assert kind_of(head) == mime


def test_text_is_utf_8_without_nul() -> None:
    assert is_text("Olá <svg/>".encode()) and is_text(b"\xef\xbb\xbfhi")
    assert not is_text(b"a\0b") and not is_text(b"\xff\xfe")


def test_what_can_run_is_never_shown_in_place() -> None:
    assert is_shown("image/png") and is_shown("video/mp4")
    assert not any(map(is_shown, ("image/svg+xml", "text/html", "application/pdf", "image/heic", "")))


def test_kinds_have_words() -> None:
    kinds = ["image/png", "application/pdf", "audio/x", "x/y"]
    assert [kind_label(kind) for kind in kinds] == ["Image", "PDF", "Audio", "File"]
