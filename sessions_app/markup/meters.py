"""How many formulas become MathML and how much code is coloured: both take far longer than parsing.

What is beyond a limit is shown as its source. Limits hold for a block and for a text, so that a text in
pieces is shown as the whole one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType

FORMULA_LIMIT = 2_000
"""Characters of one formula; converting takes about 20 µs per character."""

FORMULAS_LIMIT = 4_000
"""Characters of the formulas of one block."""

FORMULAS_TEXT_LIMIT = 20_000

FORMULA_COST = 5
"""What a formula takes however short it is, in characters."""

HIGHLIGHT_LIMIT = 20_000
"""Characters of the code of one block that is coloured, which takes about 4 µs per character."""

HIGHLIGHT_TEXT_LIMIT = 40_000

HIGHLIGHT_COST = 50
"""What a block of coloured code takes however short it is, in characters."""

SOURCE = "math_source"
"""The type of a formula that is shown as its source."""


@dataclass(slots=True)
class CharacterCount:
    """Counts characters in the open block, and in the text by way of `env`."""

    env: EnvType
    name: str
    block_limit: int
    text_limit: int
    in_block: int = 0

    def take(self, chars: int) -> bool:
        """Counts these characters; False, and nothing is counted, where a limit would be exceeded."""
        in_text = self.env.get(self.name, 0) + chars
        if self.in_block + chars > self.block_limit or in_text > self.text_limit:
            return False
        self.in_block += chars
        self.env[self.name] = in_text
        return True


def limit_costs(state: StateCore) -> None:
    """Marks the formulas and the code that are beyond the limits."""
    formulas = CharacterCount(state.env, "formulas", FORMULAS_LIMIT, FORMULAS_TEXT_LIMIT)
    code = CharacterCount(state.env, "code", HIGHLIGHT_LIMIT, HIGHLIGHT_TEXT_LIMIT)
    for token in state.tokens:
        if token.level == 0 and token.nesting >= 0:
            formulas.in_block = code.in_block = 0
        if token.type == "fence" and token.info.strip():
            token.meta["is_coloured"] = code.take(len(token.content) + HIGHLIGHT_COST)
        for formula in _formulas((token, *(token.children or ()))):
            if len(formula.content) > FORMULA_LIMIT or not formulas.take(len(formula.content) + FORMULA_COST):
                formula.type = SOURCE


def _formulas(tokens: Sequence[Token]) -> Iterator[Token]:
    return (token for token in tokens if token.type in ("math_inline", "math_inline_double", "math_block"))
