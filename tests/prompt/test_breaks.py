from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.breaks import AROUND, BreakLine, Piece, common, find, priced, spoken, whole
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.wire import dumps, escaped
from tests.prompt.examples import content, text, texts

RATES = Rates(Decimal(3), Decimal("0.30"), Decimal(15))


def panel(value: str, key: str = "todos") -> Piece:
    return Piece("dynamic", f"panel:{key}", escaped(value), 0, 1)


def turn(key: str, *parts: str) -> Piece:
    return Piece("buffered", f"turn:{key}", content("user", *map(text, parts)), 3)


def broken(was: Piece, here: Piece | None, last: bytes = b"") -> BreakLine:
    found = find(0, [was.source], [here.source] if here else [], was, here, last=last)
    assert found is not None
    return found


def test_the_place_is_the_first_byte_that_differs() -> None:
    found = broken(panel("é: book a taxi, then tea"), panel("é: book a train, then tea"))
    assert (found.kind, found.byte, found.part) == ("changed", 12, 1)
    assert (found.before, found.was, found.now) == ("é: book a t", "axi, then tea", "rain, then tea")


def test_forty_characters_are_shown_on_each_side() -> None:
    found = broken(panel("a" * 100 + "x" + "b" * 100), panel("a" * 100 + "y" + "b" * 100))
    assert (found.before, len(found.was), len(found.now)) == ("a" * AROUND, AROUND, AROUND)


def test_the_line_of_a_text_counts_its_escaped_line_breaks() -> None:
    assert broken(panel("one\ntwo\nthree"), panel("one\ntwo\ntree")).line == 3


def test_an_escape_is_never_cut() -> None:
    found = broken(panel("x\ty"), panel("x\ny"))
    assert (found.before, found.was, found.now) == ("x", "\\ty", "\\ny")


def test_a_backslash_before_an_escape_is_its_own() -> None:
    assert whole(r"a\\nb", 3) == 3
    assert whole(r"a\\nb", 2) == 1


def test_a_turn_names_its_part() -> None:
    found = broken(turn("k", "same", "old"), turn("k", "same", "new"))
    assert (found.part, found.turn, found.line) == (1, 1, None)
    assert found.place.startswith("turn 1, part 1, byte ")


@pytest.mark.parametrize(
    ("before", "now", "kind", "words"),
    [
        ("ab", "axb", "appeared", "panel “x” is new there"),
        ("ab", "a", "shortened", "panel “b” and what followed are no longer sent"),
        ("abc", "ac", "gone", "panel “b” is no longer there"),
        ("abc", "acb", "moved", "panel “c” has another place"),
        ("ab", "ax", "appeared", "panel “x” is new there"),
    ],
)
def test_what_happened_is_said(before: str, now: str, kind: str, words: str) -> None:
    pieces = {key: panel(key, key) for key in before + now}
    was, here = pieces[before[1]], pieces[now[1]] if len(now) > 1 else None
    names = [[pieces[key].source for key in keys] for keys in (before, now)]
    found = find(1, names[0], names[1], was, here, last=b"front")
    assert found is not None
    assert (found.kind, found.words, found.before) == (kind, words, "front")


def test_going_on_after_what_was_sent_is_no_break() -> None:
    assert find(1, ["a"], ["a", "b"], None, panel("new")) is None


@given(texts)
def test_nothing_parts_from_itself(value: str) -> None:
    said = escaped(value).decode()
    assert common(said, said) == len(said)


@given(texts, texts)
def test_both_sides_read_on_from_the_same_place_and_cut_no_escape(old: str, new: str) -> None:
    was, now = escaped(old).decode(), escaped(new).decode()
    at = common(was, now)
    assert was[:at] == now[:at] and whole(was, at) == at == whole(now, at)


@given(texts.filter(bool), st.integers(0, 200))
def test_a_text_cut_at_a_whole_place_is_still_json(value: str, at: int) -> None:
    said = escaped(value).decode()
    cut = said[: whole(said, min(at, len(said)))]
    assert dumps(cut) is not None and (len(cut) - len(cut.rstrip("\\"))) % 2 == 0


def test_what_a_break_lost_is_the_difference_of_the_rates() -> None:
    assert priced(10_000, RATES) == "0.02700000"
    assert priced(10_000, None) == ""


def test_a_break_survives_being_stored() -> None:
    found = broken(panel("a"), panel("b"))
    assert BreakLine.restored(found.stored()) == found
    assert BreakLine.restored({}) is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("template:static", "the static template"),
        ("tools", "the tool declarations"),
        ("clock", "the clock"),
        ("chunk:4f", "chunk “4f”"),
        ("purpose", "the purpose"),
    ],
)
def test_a_source_has_a_name(source: str, words: str) -> None:
    assert spoken(source) == words
