import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.inspector import texts


def test_control_characters_become_pictures() -> None:
    assert texts.visible("a\0b\x1bc\x7f\r") == "a␀b␛c␡␍"


def test_line_breaks_and_tabs_stay() -> None:
    assert texts.visible("a\n\tb") == "a\n\tb"


def test_a_change_of_direction_is_shown() -> None:
    assert texts.visible("\u202egnp.exe") == "[U+202E]gnp.exe"


@given(st.text(alphabet=st.characters()))
def test_what_is_shown_is_always_utf8_without_controls(text: str) -> None:
    shown = texts.visible(text)
    shown.encode()
    assert all(char in "\n\t" or ord(char) >= 0x20 for char in shown)


@given(st.binary())
def test_any_bytes_can_be_read(body: bytes) -> None:
    texts.decoded(body).encode()
    texts.pretty(body).encode()
    texts.segment_text(body).encode()


def test_pretty_keeps_integers_that_do_not_fit_64_bits() -> None:
    assert "123456789012345678901234567890" in texts.pretty(b'{"n":123456789012345678901234567890}')


def test_pretty_shows_a_lone_surrogate_as_replaced() -> None:
    assert "\ufffd" in texts.pretty(rb'{"half":"\ud83d"}')


def test_json_nested_too_deep_is_shown_as_it_is() -> None:
    body = b"[" * 100_000
    assert texts.pretty(body) == body.decode()


@given(st.text())
def test_a_segment_reads_as_the_text_it_was(text: str) -> None:
    escaped = orjson.dumps(text)[1:-1]
    assert texts.segment_text(escaped) == texts.visible(text)


def test_an_outline_has_one_entry_per_key_with_real_line_breaks() -> None:
    outline = texts.outline('{"goal":{"purpose":"Fly","background":"one\\ntwo"},"rules":["a","b"],"n":1}')
    assert outline == (("goal", "purpose: Fly\nbackground:\n  one\n  two"), ("rules", "- a\n- b"), ("n", "1"))


@pytest.mark.parametrize("value", ["{}", "[]", '""', "null"])
def test_an_empty_value_is_still_an_entry(value: str) -> None:
    assert len(texts.outline(f'{{"key":{value}}}')) == 1


def test_text_that_is_not_json_is_one_unnamed_entry() -> None:
    assert texts.outline("not json") == (("", "not json"),)


def test_the_bytes_of_a_file_are_told_by_their_size() -> None:
    shown = texts.pretty(b'{"inlineData":{"mimeType":"image/png","data":"' + b"A" * 4_000_000 + b'"}}')
    assert "3.0 MB" in shown and len(shown) < 200
    assert texts.pretty(b'{"data":"%b"}' % (b"A" * 500)).count("A") == 500
