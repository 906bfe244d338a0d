"""The common beginning of two prompts, against an oracle that compares lists of characters."""

from collections.abc import Sequence
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.logical_prompt import Parting, shared_prefix
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.wire import dumps
from tests.prompt.examples import call, content, text
from tests.prompt.prompt_items import content_item, text_item, turn_item

said = st.text("ab\né😀", min_size=1, max_size=4)
Source = tuple[str, str, str]
"""Layer (static, dynamic or turn), name and text."""


@st.composite
def prompts(draw: st.DrawFn) -> tuple[list[Source], list[Source]]:
    """A prompt, and the same after some sources were inserted, removed, edited or moved."""
    before: list[Source] = [
        (layer, f"{layer}{number}", draw(said))
        for layer in ("static", "dynamic", "turn")
        for number in range(draw(st.integers(1, 4)))
    ]
    now = list(before)
    for number in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(now) - 1))
        layer, name, words = now[at]
        changed = [(layer, f"new{number}", draw(said)), now[at]]
        moved = [one for one in now if one != now[at]]
        match draw(st.sampled_from(["insert", "remove", "edit", "move"])):
            case "insert":
                now[at : at + 1] = changed
            case "remove" if len(now) > 1:
                del now[at]
            case "edit":
                now[at] = (layer, name, draw(said))
            case "move":
                end = max(place for place, one in enumerate(now) if one[0] == layer)
                moved.insert(end, (layer, name, words + draw(st.sampled_from(["", "b"]))))
                now = moved
    return before, now


def items_of(sources: Sequence[Source]) -> list[PromptItem]:
    return [
        turn_item(name, words) if layer == "turn" else text_item(name, words, layer)
        for layer, name, words in sources
    ]


Token = tuple[str, int, int]
"""A character or a border, with its item and the characters before it there."""


def tokens_of(sources: Sequence[Source]) -> list[Token]:
    found: list[Token] = []
    for item, (layer, _, words) in enumerate(sources):
        is_border = layer == "turn" or not item or sources[item - 1][0] != layer
        found += [("border", item, 0)] if is_border else []
        found += [(letter, item, at) for at, letter in enumerate(words)]
    return [*found, ("border", len(sources) - 1, len(sources[-1][2]) - 1)]


def expected(before: Sequence[Source], now: Sequence[Source]) -> tuple[int, int] | None:
    """The item and the character at which the naive comparison parts."""
    old, new = tokens_of(before), tokens_of(now)
    pairs = enumerate(zip_longest(old, new))
    at = next((at for at, (one, other) in pairs if (one and one[0]) != (other and other[0])), None)
    if at is None or at == len(old):
        return None
    ends = at == len(new) or (new[at][0] == "border" and old[at][0] != "border")
    _, item, chars = new[at - 1] if ends else new[at]
    return (item, chars + ends)


@given(prompts())
def test_the_place_is_that_of_a_naive_comparison(pair: tuple[list[Source], list[Source]]) -> None:
    before, now = pair
    parting = shared_prefix(items_of(before), items_of(now)).parting
    assert (parting and (parting.place.item, parting.place.chars)) == expected(before, now)


@given(prompts())
def test_the_unchanged_text_is_counted_with_the_share_of_the_broken_item(
    pair: tuple[list[Source], list[Source]],
) -> None:
    before, now = (items_of(side) for side in pair)
    shared = shared_prefix(before, now)
    if shared.parting is None:
        assert shared.tokens == sum(item.tokens for item in now[: shared.items])
        return
    item, piece, chars = shared.parting.place
    whole = sum(one.tokens for one in now[:item])
    assert shared.tokens == whole + min(now[item].tokens, estimate(piece.text[:chars]))
    assert shared.items <= item + 1


def part(before: Sequence[PromptItem], now: Sequence[PromptItem]) -> Parting:
    found = shared_prefix(before, now).parting
    assert found is not None
    return found


def test_a_long_text_that_changed_at_its_end_is_nearly_all_shared() -> None:
    before, now = (text_item("panel:files", "x" * 33_000 + end) for end in ("a", "b"))
    shared = shared_prefix([before], [now])
    assert (shared.items, shared.tokens) == (0, 10_000)


def test_sources_that_are_cut_otherwise_say_the_same() -> None:
    whole, parts = text_item("a", "one two"), [text_item("a", "one "), text_item("b", "two")]
    assert shared_prefix([whole], parts).parting is None
    assert shared_prefix(parts, [whole]).parting is None


def test_the_end_of_a_layer_is_no_text() -> None:
    before = [text_item("a", "one ", "static"), text_item("b", "two", "dynamic")]
    now = [text_item("a", "one ", "static"), text_item("b", "two", "static")]
    assert part(before, now).place.item == 1


@pytest.mark.parametrize(
    "spread", [b'{"role": "user", "parts": [ {"text": "\\u00e9"} ]}', content("user", text("é"))]
)
def test_another_spelling_is_no_break(spread: bytes) -> None:
    before = content_item("turn:a", content("user", text("é")))
    assert shared_prefix([before], [content_item("turn:b", spread)]).parting is None


def test_the_order_of_arguments_has_no_meaning() -> None:
    turned = content("model", {"functionCall": {"args": {"b": 1, "a": 2}, "name": "f"}})
    before = turn_item("a", {"functionCall": {"name": "f", "args": {"a": 2, "b": 1}}}, role="model")
    assert shared_prefix([before], [content_item("turn:a", turned, "model")]).parting is None
    assert before.says_the_same_as(content_item("turn:a", turned, "model"))


def test_a_call_that_differs_parts_in_its_part() -> None:
    before, now = (turn_item("a", "Hello", call("f", city=city), role="model") for city in ("Bonn", "Bern"))
    place = part([before], [now]).place
    assert place.piece.part == 2
    at = place.piece.byte_of(now.wire, place.chars)
    assert now.wire[at:].startswith(b'ern"') and now.wire[at - 1 : at] == b"B"


def test_a_signature_that_is_left_out_is_a_break_behind_the_text() -> None:
    signed = turn_item("a", text("Hello") | {"thoughtSignature": "AAAA"}, role="model")
    shared = shared_prefix([signed], [turn_item("a", "Hello", role="model")])
    assert shared.parting is not None and shared.parting.is_end
    assert shared.tokens == estimate("Hello")


def test_an_earlier_prompt_may_end_within_a_turn() -> None:
    shared = shared_prefix([turn_item("a", "Hello")], [turn_item("a", "Hello", "more")])
    assert (shared.parting, shared.items, shared.tokens) == (None, 0, estimate("Hello"))


@pytest.mark.parametrize("body", [b"\xff\xfe", b"[1]", b'{"parts":7}', dumps("x")])
def test_bytes_that_are_no_content_are_compared_as_they_are(body: bytes) -> None:
    items = [content_item("turn:a", body)]
    assert shared_prefix(items, [content_item("turn:b", body)]).parting is None
    assert part(items, [content_item("turn:a", body + b" 1")]).place.item == 0


@pytest.mark.parametrize("kind", ["text", "user_task"])
def test_half_an_emoji_is_a_character(kind: str) -> None:
    """A client that cuts a text by its UTF-16 units writes the half as an escape."""

    def item(end: str) -> PromptItem:
        said = rf"\ud83d {end}"
        body = (said if kind == "text" else f'{{"parts":[{{"text":"{said}"}}]}}').encode()
        return PromptItem("static", "a", "user", kind, body, 9, len(body), lambda: body, 0)

    parting = part([item("one")], [item("two")])
    assert (parting.place.chars, parting.lead, parting.now_text) == (2, "\ud83d ", "two")
    assert item("one").says_the_same_as(item("one")) and not item("one").says_the_same_as(item("two"))


def test_equal_bytes_in_another_role_say_something_else() -> None:
    body = content("user", text("Yes."))
    assert not content_item("turn:a", body).says_the_same_as(content_item("turn:a", body, "model"))
