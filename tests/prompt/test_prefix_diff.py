from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.prefix_diff import (
    CONTEXT_LENGTH,
    BreakKind,
    BreakLine,
    Ledger,
    LedgerItem,
    ManifestPiece,
    break_cost,
    common_length,
    common_prefix,
    escape_start,
    find_break,
    is_hit,
    ledger_of,
)
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.wire import dumps, escaped
from tests.prompt.examples import content, text, texts

RATES = Rates(Decimal(3), Decimal("0.30"), Decimal(15))


def panel(value: str, key: str = "todos") -> ManifestPiece:
    return ManifestPiece("dynamic", f"panel:{key}", escaped(value), 0, 1)


def turn(key: str, *parts: str) -> ManifestPiece:
    return ManifestPiece("buffered", f"turn:{key}", content("user", *map(text, parts)), 3)


def broken(was: ManifestPiece, here: ManifestPiece | None, last: bytes = b"") -> BreakLine:
    found = find_break(0, [was.source], [here.source] if here else [], was, here, last=last)
    assert found is not None
    return found


def test_the_place_is_the_first_byte_that_differs() -> None:
    found = broken(panel("é: book a taxi, then tea"), panel("é: book a train, then tea"))
    assert (found.kind, found.byte, found.part) == ("changed", 12, 1)
    assert (found.before, found.was, found.now) == ("é: book a t", "axi, then tea", "rain, then tea")


def test_forty_characters_are_shown_on_each_side() -> None:
    found = broken(panel("a" * 100 + "x" + "b" * 100), panel("a" * 100 + "y" + "b" * 100))
    assert (found.before, len(found.was), len(found.now)) == (
        "a" * CONTEXT_LENGTH,
        CONTEXT_LENGTH,
        CONTEXT_LENGTH,
    )


def test_the_line_of_a_text_counts_its_escaped_line_breaks() -> None:
    assert broken(panel("one\ntwo\nthree"), panel("one\ntwo\ntree")).line == 3


def test_an_escape_is_never_cut() -> None:
    found = broken(panel("x\ty"), panel("x\ny"))
    assert (found.before, found.was, found.now) == ("x", "\\ty", "\\ny")


def test_a_backslash_before_an_escape_is_its_own() -> None:
    assert escape_start(r"a\\nb", 3) == 3
    assert escape_start(r"a\\nb", 2) == 1


def test_a_turn_names_its_part() -> None:
    found = broken(turn("k", "same", "old"), turn("k", "same", "new"))
    assert (found.part, found.turn, found.line) == (1, 1, None)


@pytest.mark.parametrize(
    ("before", "now", "kind", "source"),
    [
        ("ab", "axb", BreakKind.APPEARED, "panel:x"),
        ("ab", "a", BreakKind.SHORTENED, "panel:b"),
        ("abc", "ac", BreakKind.GONE, "panel:b"),
        ("abc", "acb", BreakKind.MOVED, "panel:c"),
        ("ab", "ax", BreakKind.APPEARED, "panel:x"),
    ],
)
def test_a_break_names_what_happened_and_to_which_source(
    before: str, now: str, kind: BreakKind, source: str
) -> None:
    pieces = {key: panel(key, key) for key in before + now}
    was, here = pieces[before[1]], pieces[now[1]] if len(now) > 1 else None
    names = [[pieces[key].source for key in keys] for keys in (before, now)]
    found = find_break(1, names[0], names[1], was, here, last=b"front")
    assert found is not None
    assert (found.kind, found.source, found.before) == (kind, source, "front")


def test_going_on_after_what_was_sent_is_no_break() -> None:
    assert find_break(1, ["a"], ["a", "b"], None, panel("new")) is None


@given(texts)
def test_nothing_parts_from_itself(value: str) -> None:
    said = escaped(value).decode()
    assert common_length(said, said) == len(said)


@given(texts, texts)
def test_both_sides_read_on_from_the_same_place_and_cut_no_escape(old: str, new: str) -> None:
    was, now = escaped(old).decode(), escaped(new).decode()
    at = common_length(was, now)
    assert was[:at] == now[:at] and escape_start(was, at) == at == escape_start(now, at)


@given(texts.filter(bool), st.integers(0, 200))
def test_a_text_cut_at_a_whole_place_is_still_json(value: str, at: int) -> None:
    said = escaped(value).decode()
    cut = said[: escape_start(said, min(at, len(said)))]
    assert dumps(cut) is not None and (len(cut) - len(cut.rstrip("\\"))) % 2 == 0


def test_what_a_break_lost_is_the_difference_of_the_rates() -> None:
    assert break_cost(10_000, RATES) == "0.02700000"
    assert break_cost(10_000, None) == ""


def test_a_break_survives_being_stored() -> None:
    found = broken(panel("a"), panel("b"))
    assert BreakLine.restored(found.stored()) == found
    assert BreakLine.restored({}) is None


identities = st.lists(st.integers(0, 5), max_size=12)


def entries(identities: Sequence[object], *, named: int = 0) -> list[LedgerItem]:
    return [
        LedgerItem("dynamic", f"panel:{one}", one, 100, position < named)
        for position, one in enumerate(map(str, identities))
    ]


@pytest.mark.parametrize(
    ("before", "now", "hits"),
    [
        ("abc", "axc", 1),
        ("abc", "bc", 0),
        ("abc", "abcd", 3),
        ("abc", "acb", 1),
        ("", "abc", 0),
    ],
)
def test_an_item_hits_while_all_before_it_are_the_same(before: str, now: str, hits: int) -> None:
    sums = ledger_of(list(before), entries(now))
    assert (sums.hits, sums.hit_tokens, sums.miss_tokens) == (hits, 100 * hits, 100 * (len(now) - hits))


def test_going_from_a_miss_to_a_named_cache_is_the_same_items() -> None:
    assert ledger_of(list("abc"), entries("abcd", named=2)) == ledger_of(list("abc"), entries("abcd"))


def test_a_named_cache_hits_in_a_new_session_too() -> None:
    assert ledger_of([], entries("abc", named=2)).hits == 2


@given(identities, identities)
def test_the_sums_are_those_of_the_items(before: list[int], now: list[int]) -> None:
    sums = ledger_of([str(one) for one in before], entries(now))
    assert sums.hits == sum(is_hit(entry, place, sums.prefix) for place, entry in enumerate(entries(now)))
    assert sums.tokens == 100 * len(now)


@given(identities, identities, identities)
def test_a_longer_common_beginning_is_never_a_shorter_prefix(
    head: list[int], before: list[int], now: list[int]
) -> None:
    assert common_prefix(head + before, head + now) >= len(head)


@given(identities, identities)
def test_what_only_went_on_hits_whole(before: list[int], more: list[int]) -> None:
    assert ledger_of([str(one) for one in before], entries(before + more)).prefix >= len(before)


def test_a_ledger_survives_being_stored() -> None:
    sums = ledger_of(list("ab"), entries("abc"))
    assert Ledger.restored(sums.stored()) == sums
    assert Ledger.restored({}) is None
