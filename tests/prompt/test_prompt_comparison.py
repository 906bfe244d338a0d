"""Which source broke a prefix, and where it stands in each view."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.layers import StaticSources, build_layers
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.parts import RawPart
from sessions_app.prompt.payload import GenerationConfig, Item, Payload, assemble
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.prompt_comparison import compare_prompts
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.prompt.turns import Turn, user_task
from tests.prompt.examples import NOW, answer
from tests.prompt.prompt_items import text_item, texts_of, turn_item


def broken(before: Sequence[PromptItem], now: Sequence[PromptItem]) -> BreakLine:
    found = compare_prompts(before, now).broken
    assert found is not None
    return found


def panels(text: str) -> list[PromptItem]:
    """A panel for each word: its name, and what it says."""
    return texts_of("dynamic", [(f"panel:{word.rstrip('2')}", f'\n"{word}": 1,') for word in text.split()])


@pytest.mark.parametrize(
    ("before", "now", "kind", "culprit"),
    [
        ("a b c", "a b2 c", BreakKind.CHANGED, "b"),
        ("a b c", "a c b2", BreakKind.CHANGED_AND_MOVED, "b"),
        ("a b c", "b2 a c", BreakKind.CHANGED_AND_MOVED, "b"),
        ("a b c", "a c", BreakKind.GONE, "b"),
        ("a b c", "b c", BreakKind.GONE, "a"),
        ("a b c", "a x b c", BreakKind.APPEARED, "x"),
        ("a b c", "a c b", BreakKind.MOVED, "c"),
        ("a b c d", "b c d a", BreakKind.MOVED, "a"),
        ("a b c", "c2 a b", BreakKind.CHANGED_AND_MOVED, "c"),
        ("a b", "a", BreakKind.SHORTENED, "b"),
        ("a b", "a x", BreakKind.GONE, "b"),
        ("a b c", "a c b2 x", BreakKind.CHANGED_AND_MOVED, "b"),
        ("a ab c", "ab c", BreakKind.GONE, "a"),
    ],
)
def test_the_culprit_is_what_changed_and_never_what_only_moved(
    before: str, now: str, kind: BreakKind, culprit: str
) -> None:
    found = broken(panels(before), panels(now))
    assert (found.kind, found.source) == (kind, f"panel:{culprit}")


def signed(*parts: RawPart) -> list[PromptItem]:
    """A question, the model's answer in these parts, and what was asked then."""
    return [turn_item("1", "Hi"), turn_item("2", *parts, role="model"), turn_item("3", "And?")]


HELLO, SIGNED = {"text": "Hello."}, {"text": "", "thoughtSignature": "AA=="}


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        ((HELLO, SIGNED), (HELLO,), BreakKind.SIGNED_OTHERWISE),
        ((HELLO,), (HELLO | {"thoughtSignature": "AA=="},), BreakKind.SIGNED_OTHERWISE),
        ((HELLO, SIGNED), (HELLO, SIGNED | {"thoughtSignature": "BB=="}), BreakKind.SIGNED_OTHERWISE),
        ((HELLO, SIGNED), ({"text": "Hallo."},), BreakKind.CHANGED),
        ((HELLO, SIGNED), (HELLO, HELLO), BreakKind.CHANGED),
    ],
)
def test_a_turn_that_says_the_same_was_only_signed_otherwise(
    before: Sequence[RawPart], now: Sequence[RawPart], kind: BreakKind
) -> None:
    found = broken(signed(*before), signed(*now))
    assert (found.kind, found.source) == (kind, "turn:2")


@pytest.mark.parametrize(
    ("now", "kind"),
    [((HELLO,), BreakKind.SIGNED_OTHERWISE), ((SIGNED,), BreakKind.CHANGED)],
)
def test_a_turn_in_which_the_request_ends_has_not_moved(now: Sequence[RawPart], kind: BreakKind) -> None:
    found = broken(signed(HELLO, SIGNED)[:2], signed(*now)[:2])
    assert (found.kind, found.source) == (kind, "turn:2")


@st.composite
def edited_panels(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str]]:
    """Panels, and the same after some were removed, added, or changed with or without a move to the end."""
    names = draw(st.lists(st.sampled_from("abcdefg"), min_size=1, unique=True))
    before = {name: draw(st.text("xy", max_size=3)) for name in names}
    now = dict(before)
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        match draw(st.sampled_from(["remove", "edit", "move"])):
            case "remove":
                del now[name]
            case "edit":
                now[name] += "z"
            case "move":
                now[name] = now.pop(name) + "z"
    if not now or draw(st.booleans()):
        now = {"new": draw(st.text("xy", max_size=3))} | now
    return before, now


@given(edited_panels())
def test_an_unchanged_panel_is_never_blamed(pair: tuple[dict[str, str], dict[str, str]]) -> None:
    before, now = pair
    found = compare_prompts(*(texts_of("dynamic", [*side.items()]) for side in pair)).broken
    changed = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
    assert found is None or found.source in changed
    assert found is None or found.kind is not BreakKind.MOVED


def static(*chunks: str, purpose: str = "p") -> list[PromptItem]:
    """The static layer as its template renders it: the frame names history once there is some."""
    frame = "{history, " if chunks else "{"
    sources = [(f"chunk:{chunk}", f"[{chunk}]") for chunk in chunks]
    middle = [("template:static", f"{frame}{purpose}")]
    return texts_of(
        "static",
        [*middle, *sources, ("template:static", "}")] if chunks else [(middle[0][0], f"{{{purpose}}}")],
    )


@pytest.mark.parametrize(
    ("before", "now", "source", "number"),
    [
        (static(), static("7"), "chunk:7", 1),
        (static("7"), static("7", "9"), "chunk:9", 2),
        (static("7", "9"), static("7"), "chunk:9", 2),
        (static("7"), static("7", purpose="q"), "template:static", 0),
        (static(), static(purpose="q"), "template:static", 0),
    ],
)
def test_a_frame_that_changed_with_what_it_holds_is_not_the_culprit(
    before: list[PromptItem], now: list[PromptItem], source: str, number: int
) -> None:
    found = broken([*before, turn_item("a", "x")], [*now, turn_item("a", "x")])
    assert (found.source, found.number) == (source, number)
    assert found.kind is not BreakKind.MOVED


def test_tools_that_went_are_the_culprit() -> None:
    tools = PromptItem("static", "tools", "user", "declarations", 1, 3, 4, lambda: b"[{}]")
    rest = text_item("template:static", "x", "static")
    assert broken([tools, rest], [rest]).source == "tools"
    assert broken([rest], [tools, rest]).kind is BreakKind.APPEARED


def test_another_turn_in_the_place_of_one() -> None:
    found = broken([turn_item("a", "x"), turn_item("b", "y")], [turn_item("a", "x"), turn_item("c", "z")])
    assert (found.kind, found.source, found.before, found.was, found.now) == (
        BreakKind.REPLACED,
        "turn:c",
        "x",
        "y",
        "z",
    )


def test_a_copy_of_a_turn_is_no_break() -> None:
    assert (
        compare_prompts([turn_item("a", "x")], [turn_item("copy", "x"), turn_item("b", "y")]).broken is None
    )


def test_parts_and_lines_count_from_one() -> None:
    before, now = (turn_item("a", "same", f"one\ntwo {end}") for end in "xy")
    at = broken([before], [now]).at
    assert at is not None and (at.part, at.line, at.char) == (2, 2, 8)


texts = st.text(st.sampled_from('ab"\\\n\té😀\x07'), max_size=8)


@st.composite
def requests(draw: st.DrawFn) -> tuple[Payload, Payload]:
    """Two requests of which the second says something else in one place."""
    changed = draw(st.sampled_from(["purpose", "panel", "turn", "nothing"]))

    def request(*, is_second: bool) -> Payload:
        words = {name: draw(texts) if is_second and name == changed else fixed[name] for name in fixed}
        shown = [Panel("todos", "Todos", words["panel"], NOW), Panel("notes", "N", "é", NOW + timedelta(1))]
        turns: list[Turn] = [user_task("1", words["turn"] + "."), answer("2"), user_task("3", "Go on.")]
        layers = build_layers(StaticSources(purpose=words["purpose"]), shown, NOW, turns, [{"name": "f"}])
        return assemble(layers, GenerationConfig(), model="m", cached_content="c" if named[is_second] else "")

    fixed = {name: draw(texts) for name in ("purpose", "panel", "turn")}
    named = (draw(st.booleans()), draw(st.booleans()))
    return request(is_second=False), request(is_second=True)


def items_of(payload: Payload) -> list[PromptItem]:
    return [_item(one) for one in payload.items]


def _item(one: Item) -> PromptItem:
    facts = (one.layer, one.source, one.role, one.kind, one.sha256, one.tokens)
    return PromptItem(*facts, len(one.wire), lambda: one.wire, one.start)


def first_difference(one: bytes, other: bytes) -> int:
    """In UTF-8, a byte at a time; a character or an escape begins at the place that is looked for."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(other)
    )


@given(requests())
def test_the_offset_in_the_body_points_at_the_differing_byte(pair: tuple[Payload, Payload]) -> None:
    before, now = pair
    found = compare_prompts(items_of(before), items_of(now)).broken
    if found is None:
        return
    assert found.at is not None
    if found.at.layer == "static" and now.cached_content:
        assert found.at.body_byte is None
        return
    at = found.at.body_byte
    assert at is not None
    shown = found.now.encode()[:4]
    if bool(before.cached_content) == bool(now.cached_content):
        assert 0 <= first_difference(before.body, now.body) - at <= 5
        assert before.body[:at] == now.body[:at]
    assert not shown or now.body[at : at + 1] in (shown[:1], b"\\")


@given(requests())
def test_the_offset_in_the_layer_is_that_of_its_items_joined(pair: tuple[Payload, Payload]) -> None:
    before, now = pair
    found = compare_prompts(items_of(before), items_of(now)).broken
    if found is None or found.at is None:
        return
    layer, place = found.at.layer, found.at.layer_byte
    old, new = (b"".join(one.wire for one in side.items if one.layer == layer) for side in (before, now))
    assert old[:place] == new[:place] and 0 <= first_difference(old, new) - place <= 5
