from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.media import (
    attachment_key,
    bytes_of,
    inline_part,
    media_in,
    reference_part,
    referenced_keys,
    with_provider_uris,
)
from sessions_app.prompt.parts import file_of, holds_media, raw_parts
from sessions_app.prompt.turns import restore, user_task

KEY = "0c9a5b0e-7a1e-4f39-9c43-1d2f3a4b5c6d"
URI = "https://example.test/v1beta/files/abc"
NAMED = user_task("t", "Look", [reference_part(KEY, "video/mp4", "clip.mp4")]).wire


@given(st.binary(min_size=1, max_size=200))
def test_an_inline_part_gives_back_its_bytes(body: bytes) -> None:
    ((index, found),) = media_in(user_task("t", "Look", [inline_part(body, "image/png", "a.png")]).wire)
    assert (index, bytes_of(found), attachment_key(found)) == (0, body, "")
    assert (found.mime, found.name, found.size) == ("image/png", "a.png", len(body))


def test_files_stand_before_the_words_and_the_sdk_takes_them() -> None:
    wire = user_task("t", "Look", [inline_part(b"x", "image/png", "a.png")]).wire
    assert [*map(list, raw_parts(wire))] == [["inlineData", "partMetadata"], ["text"]]
    parts = restore(wire).parts or []
    assert parts[0].inline_data and parts[0].inline_data.data == b"x"


def test_a_message_may_be_a_file_alone() -> None:
    assert len(raw_parts(user_task("t", "", [inline_part(b"x", "image/png", "a")]).wire)) == 1


def test_our_address_becomes_the_providers() -> None:
    sent = with_provider_uris(NAMED, {KEY: URI})
    assert referenced_keys(NAMED) == (KEY,) and referenced_keys(sent) == ()
    assert raw_parts(sent)[0]["fileData"] == {"mimeType": "video/mp4", "fileUri": URI}


def test_a_file_that_is_gone_says_so_in_its_place() -> None:
    parts = raw_parts(with_provider_uris(NAMED, {}))
    assert parts[0] == {"text": "[The file clip.mp4 is not available any more.]"}
    assert parts[1] == {"text": "Look"}


@given(st.text())
def test_words_are_never_taken_for_an_address(text: str) -> None:
    for said in (text, f'"fileUri":"pipeweb:{KEY}"', f"pipeweb:{KEY}"):
        wire = user_task("t", said).wire
        assert referenced_keys(wire) == () and with_provider_uris(wire, {}) == wire


def test_only_contents_with_files_hold_media() -> None:
    assert holds_media(NAMED) and not holds_media(user_task("t", '"inlineData"').wire)


def test_odd_parts_are_no_trouble() -> None:
    odd, snake = (
        file_of({key: {"data": data}}) for key, data in (("inlineData", "ü"), ("inline_data", "__79"))
    )
    assert odd and bytes_of(odd) is None
    assert snake and bytes_of(snake) == b"\xff\xfe\xfd"
    assert media_in(b'{"parts": [{"inlineData": 3}, {"partMetadata": []}]}') == ()


def test_the_key_of_an_address_is_its_attachment() -> None:
    ((_, found),) = media_in(NAMED)
    assert (attachment_key(found), found.size, bytes_of(found)) == (KEY, None, None)
