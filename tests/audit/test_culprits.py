"""The audit's choice of a culprit beside the product's: any two prompts, and the product's rule broken."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.audit.culprits import culprits_of
from sessions_app.audit.prefix import parting
from sessions_app.audit.rows import StoredItem
from sessions_app.prompt import break_culprit, prompt_comparison
from sessions_app.prompt.break_culprit import Culprit
from sessions_app.prompt.prefix_diff import BreakKind
from sessions_app.prompt.prompt_comparison import compare_prompts
from sessions_app.prompt.prompt_items import PromptItem
from tests.audit.rules import rules_of

TURNS = {
    "turn:a": "x",
    "turn:b": "y",
    "turn:c": "x",
    "turn:d": "z",
    "turn:e": "x",
    "turn:f": "y",
    "turn:g": "w",
}
"""Some say the same."""

BRANCHES = ["a", "ab", "abc", "abcd", "af", "afg", "efg", "eg", "e"]
"""Turns of one tree from its root to a leaf."""


class Piece(NamedTuple):
    """One item of a prompt: tools, text of a layer, or a turn, which may have a `signature`."""

    layer: str
    name: str
    says: str
    signature: str = ""

    @property
    def kind(self) -> str:
        if self.name == "tools":
            return "declarations"
        return "text" if self.layer in ("static", "dynamic") else "user_task"

    @property
    def body(self) -> bytes:
        if self.kind == "text":
            return json.dumps(self.says)[1:-1].encode()
        if self.kind == "declarations":
            return json.dumps([self.says]).encode()
        signed = {"thoughtSignature": self.signature} if self.signature else {}
        return json.dumps({"parts": [{"text": self.says, **signed}], "role": "user"}).encode()

    def stored(self) -> StoredItem:
        return StoredItem(hash(self), self.name, "user", self.kind, self.layer, "", self.body, 1)

    def read(self) -> PromptItem:
        body = self.body
        return PromptItem(self.layer, self.name, "user", self.kind, body, 1, len(body), lambda: body)


class Prompt(NamedTuple):
    """What a session sends: names with what each says. A turn for each chunk is in it."""

    tools: str
    purpose: str
    chunks: dict[str, str]
    panels: dict[str, str]
    clock: str
    branch: str
    signatures: Mapping[str, str] = MappingProxyType({})

    def pieces(self) -> list[Piece]:
        tools = [Piece("static", "tools", self.tools)] if self.tools else []
        opening = "{history, " if self.chunks else "{"
        static = [Piece("static", "template:static", opening + self.purpose)]
        for name, says in self.chunks.items():
            static += [Piece("static", name, f"[{name} {says}]"), Piece("static", "template:static", ",")]
        dynamic = [Piece("dynamic", "template:dynamic", "{")]
        for name, says in self.panels.items():
            dynamic += [
                Piece("dynamic", name, f'"{name}": "{says}"'),
                Piece("dynamic", "template:dynamic", ", "),
            ]
        dynamic[-1] = Piece("dynamic", "template:dynamic", dynamic[-1].says + self.clock + "}")
        rolled = min(len(self.chunks), len(self.branch) - 1)
        names = [f"turn:{key}" for key in self.branch[rolled:]]
        turns = [Piece("buffered", name, TURNS[name], self.signatures.get(name, "")) for name in names]
        return [*tools, *static, *dynamic, *turns]


WORDS = st.sampled_from(["", "x", "xy", "xyz", "z"])


def named(begin: str) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from([begin + key for key in "abcd"]), WORDS)


PROMPTS = st.builds(
    Prompt,
    tools=st.sampled_from(["", "t", "u"]),
    purpose=st.sampled_from(["p", "pq", "q"]),
    chunks=named("chunk:"),
    panels=named("panel:"),
    clock=st.sampled_from(["1", "2"]),
    branch=st.sampled_from(BRANCHES),
    signatures=st.dictionaries(st.sampled_from(list(TURNS)), st.sampled_from(["", "AA==", "BB=="])),
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Prompt, Prompt]:
    """A prompt, and the same with some of its fields drawn anew."""
    before, other = draw(PROMPTS), draw(PROMPTS)
    fields = draw(st.lists(st.sampled_from(Prompt._fields), min_size=1, max_size=3, unique=True))
    return before, before._replace(**{name: getattr(other, name) for name in fields})


def agree(before: Sequence[Piece], now: Sequence[Piece]) -> bool:
    product = compare_prompts([one.read() for one in before], [one.read() for one in now]).broken
    old, new = [one.stored() for one in before], [one.stored() for one in now]
    found = parting(old, new)
    if product is None or found is None:
        return product is None and found is None
    return (product.kind.value, product.source) in culprits_of(old, new, found)


@given(edited())
def test_both_blame_the_same_source_for_any_break(pair: tuple[Prompt, Prompt]) -> None:
    before, now = (one.pieces() for one in pair)
    assert agree(before, now)


FIRST = Prompt(
    tools="t",
    purpose="p",
    chunks={"chunk:a": "x"},
    panels={"panel:a": "x", "panel:b": "y", "panel:c": "z"},
    clock="1",
    branch="abc",
)
EDITS: dict[str, dict[str, Any]] = {
    "panel changed": {"panels": FIRST.panels | {"panel:b": "yy"}},
    "panel changed and moved": {"panels": {"panel:b": "y", "panel:c": "z", "panel:a": "xx"}},
    "panel changed and moved up": {"panels": {"panel:c": "zz", "panel:a": "x", "panel:b": "y"}},
    "panel moved": {"panels": {"panel:b": "y", "panel:c": "z", "panel:a": "x"}},
    "panel moved up": {"panels": {"panel:c": "z", "panel:a": "x", "panel:b": "y"}},
    "panel gone": {"panels": {"panel:b": "y", "panel:c": "z"}},
    "panel came": {"panels": FIRST.panels | {"panel:d": ""}},
    "panels gone": {"panels": {}, "branch": "efg"},
    "chunk came": {"chunks": FIRST.chunks | {"chunk:b": "y"}},
    "text changed": {"purpose": "q"},
    "clock changed": {"clock": "2"},
    "tools came": {"tools": "u"},
    "turn replaced": {"branch": "afg"},
    "turns left": {"branch": "a"},
    "turn signed": {"signatures": {"turn:b": "AA=="}},
    "copies": {"chunks": {}, "branch": "eg"},
}
"""Changes of it, by what they do."""


def twins() -> tuple[list[Piece], list[Piece]]:
    """The first of two turns that say the same is gone, and what follows is the same."""
    first, *said = (Piece("buffered", f"turn:{key}", says) for key, says in zip("abcd", "wxxy", strict=True))
    return [first, *said], [first, *said[1:]]


def layers() -> tuple[list[Piece], list[Piece]]:
    """A layer comes before the turns, of which the first is another one."""
    panel = [Piece("dynamic", "template:dynamic", "{"), Piece("dynamic", "panel:a", "x")]
    return [Piece("buffered", "turn:a", "x")], [*panel, Piece("buffered", "turn:b", "y")]


def disagreements() -> list[str]:
    """Prompts, by what was done, of which the product and the audit blame different sources."""
    without = FIRST._replace(tools="", chunks={"chunk:a": "x"})
    pairs = [
        *((name, FIRST.pieces(), FIRST._replace(**changes).pieces()) for name, changes in EDITS.items()),
        ("tools came, chunk went", without.pieces(), FIRST._replace(chunks={}, branch="bc").pieces()),
        ("a twin is gone", *twins()),
        ("a layer came", *layers()),
    ]
    return [name for name, before, now in pairs if not agree(before, now)]


def blamed(kind: BreakKind) -> Callable[..., Culprit]:
    return lambda *_: Culprit(kind, 0, is_before=False)


MUTATIONS: dict[str, Any] = {
    "_change_of": lambda *_: BreakKind.SIGNED_OTHERWISE,
    "culprit_of": blamed(BreakKind.CHANGED),
    "_first_mismatch": lambda *_: 0,
    "_is_kept": lambda *_: False,
    "_decided": blamed(BreakKind.GONE),
    "_subjects": lambda _, __, was, here: (was, here),
    "_of_first_section": lambda _, __, was, here: (was, here),
    "_section": lambda _: 0,
    "_SECTIONS": {},
    "_lost": lambda *_: None,
    "_moved": blamed(BreakKind.CHANGED),
    "outside_order": lambda _: set[int](),
    "_named": lambda _: {},
    "FRAMES": "panel:",
    "TURNS": "panel:",
}
"""By rule (its name in `break_culprit`): a wrong one in its place."""


def test_every_rule_of_culprits_has_a_mutation() -> None:
    assert set(MUTATIONS) == rules_of(break_culprit)


def test_without_a_broken_rule_both_blame_the_same() -> None:
    assert disagreements() == []


@pytest.mark.parametrize("rule", MUTATIONS)
def test_a_broken_rule_of_culprits_is_noticed(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    monkeypatch.setattr(break_culprit, rule, MUTATIONS[rule])
    monkeypatch.setattr(prompt_comparison, "culprit_of", break_culprit.culprit_of)
    assert disagreements()
