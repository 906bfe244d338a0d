"""The audit's choice of a culprit beside the product's: any two prompts, and the product's rule broken."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.audit.culprits import culprits_of
from sessions_app.audit.prefix import parting
from sessions_app.audit.rows import StoredItem
from sessions_app.prompt.prompt_comparison import compare_prompts
from sessions_app.prompt.prompt_items import PromptItem


class Piece(NamedTuple):
    """One item of a prompt: tools, text of a layer, or a turn."""

    layer: str
    name: str
    says: str

    @property
    def kind(self) -> str:
        if self.name == "tools":
            return "declarations"
        return "text" if self.layer in ("static", "dynamic") else "user_task"

    @property
    def body(self) -> bytes:
        if self.kind == "text":
            return json.dumps(self.says)[1:-1].encode()
        value = (
            [self.says] if self.kind == "declarations" else {"parts": [{"text": self.says}], "role": "user"}
        )
        return json.dumps(value).encode()

    def stored(self) -> StoredItem:
        return StoredItem(
            hash((self.name, self.says)), self.name, "user", self.kind, self.layer, "", self.body, 1
        )

    def read(self) -> PromptItem:
        body = self.body
        return PromptItem(self.layer, self.name, "user", self.kind, body, 1, len(body), lambda: body)


class Prompt(NamedTuple):
    """What a session sends: names with what each says."""

    tools: str
    purpose: str
    chunks: dict[str, str]
    panels: dict[str, str]
    clock: str
    turns: dict[str, str]

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
        turns = [Piece("buffered", name, f"{name[-1]} {says}") for name, says in self.turns.items()]
        return [*tools, *static, *dynamic, *turns]


WORDS = st.sampled_from(["", "x", "xy", "xyz", "z"])


def named(begin: str, least: int = 0) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from([begin + key for key in "abcd"]), WORDS, min_size=least)


PROMPTS = st.builds(
    Prompt,
    tools=st.sampled_from(["", "t", "u"]),
    purpose=st.sampled_from(["p", "pq", "q"]),
    chunks=named("chunk:"),
    panels=named("panel:"),
    clock=st.sampled_from(["1", "2"]),
    turns=named("turn:", 1),
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
