import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.inspector import formatting


def test_control_characters_become_pictures() -> None:
    assert formatting.visible("a\0b\x1bc\x7f\r") == "a␀b␛c␡␍"


def test_line_breaks_and_tabs_stay() -> None:
    assert formatting.visible("a\n\tb") == "a\n\tb"


def test_a_change_of_direction_is_shown() -> None:
    assert formatting.visible("\u202egnp.exe") == "[U+202E]gnp.exe"


@given(st.text(alphabet=st.characters()))
def test_what_is_shown_is_always_utf8_without_controls(text: str) -> None:
    shown = formatting.visible(text)
    shown.encode()
    assert all(char in "\n\t" or ord(char) >= 0x20 for char in shown)


@given(st.binary())
def test_any_bytes_can_be_read(body: bytes) -> None:
    formatting.decoded(body).encode()
    formatting.pretty(body).encode()
    formatting.segment_text(body).encode()


def test_pretty_keeps_integers_that_do_not_fit_64_bits() -> None:
    assert "123456789012345678901234567890" in formatting.pretty(b'{"n":123456789012345678901234567890}')


def test_pretty_shows_a_lone_surrogate_as_replaced() -> None:
    assert "\ufffd" in formatting.pretty(rb'{"half":"\ud83d"}')


def test_json_nested_too_deep_is_shown_as_it_is() -> None:
    body = b"[" * 100_000
    assert formatting.pretty(body) == body.decode()


@given(st.text())
def test_a_segment_reads_as_the_text_it_was(text: str) -> None:
    escaped = orjson.dumps(text)[1:-1]
    assert formatting.segment_text(escaped) == formatting.visible(text)


def test_an_outline_has_one_entry_per_key_with_real_line_breaks() -> None:
    outline = formatting.outline(
        '{"goal":{"purpose":"Fly","background":"one\\ntwo"},"rules":["a","b"],"n":1}'
    )
    assert outline == (("goal", "purpose: Fly\nbackground:\n  one\n  two"), ("rules", "- a\n- b"), ("n", "1"))


@pytest.mark.parametrize("value", ["{}", "[]", '""', "null"])
def test_an_empty_value_is_still_an_entry(value: str) -> None:
    assert len(formatting.outline(f'{{"key":{value}}}')) == 1


def test_text_that_is_not_json_is_one_unnamed_entry() -> None:
    assert formatting.outline("not json") == (("", "not json"),)


def test_the_bytes_of_a_file_are_told_by_their_size() -> None:
    shown = formatting.pretty(b'{"inlineData":{"mimeType":"image/png","data":"' + b"A" * 4_000_000 + b'"}}')
    assert "3.0 MB" in shown and len(shown) < 200
    assert formatting.pretty(b'{"data":"%b"}' % (b"A" * 500)).count("A") == 500


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "–"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB")],
)
def test_sizes_change_unit_where_they_round(count: int | None, words: str) -> None:
    assert formatting.size(count) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"), [(None, "–"), (0.44, "0.4 ms"), (840.4, "840 ms"), (12_400, "12.40 s")]
)
def test_durations(milliseconds: float | None, words: str) -> None:
    assert formatting.duration(milliseconds) == words


def test_a_missing_count_is_not_zero() -> None:
    assert formatting.thousands(None) == "–"
    assert formatting.thousands(1204) == "1,204"


@pytest.mark.parametrize(
    ("part", "whole", "words"), [(999, 1000, "99 %"), (1000, 1000, "100 %"), (0, 0, "–"), (None, 10, "–")]
)
def test_a_hundred_percent_means_all_of_it(part: int | None, whole: int, words: str) -> None:
    assert formatting.share(part, whole) == words
