"""How the answers of each model are laid out: the table "Form" of README.md as data.

`manage.py conform --recordings FOLDER --rules` derives the same table from recorded traffic, and
the test of it holds the two together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from types import MappingProxyType


class Signable(StrEnum):
    """The answers that a family signs or does not."""

    CALL = "a call after thoughts"
    CALL_UNTHOUGHT = "a call without thoughts"
    TEXT = "a text after thoughts, no functions declared"
    TEXT_WITH_FUNCTIONS = "a text after thoughts, functions declared"
    TEXT_UNTHOUGHT = "a text without thoughts"
    RESULT_UNTHOUGHT = "a text without thoughts after a tool result"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm:
    """The choices of one model family.

    `closes_empty`: a stream ends with an empty text, which holds the signature of a text; otherwise the
    first chunk of a text does. `splits_calls`: a stream has each call in a chunk of its own.
    `counts_thoughts_at_once`: each thought chunk counts what was thought so far; otherwise thoughts are
    counted after the last of them. `restores_thoughts`: the thoughts behind the signatures of the current
    turn are billed as prompt in the last chunk; with `restores_past_turns` those of earlier turns too.
    `opening` and `chunk` are characters of a streamed text's first chunk after thoughts (0: a word, as it
    always is without thoughts) and of those that follow. `call_ids_from` and `turn_token_from` are the days
    of the first recording with them, None for never.
    """

    closes_empty: bool = True
    splits_calls: bool = True
    counts_thoughts_at_once: bool = False
    restores_thoughts: bool = True
    restores_past_turns: bool = False
    signed: frozenset[Signable] = frozenset(Signable) - {Signable.RESULT_UNTHOUGHT}
    opening: int = 0
    chunk: int = 100
    call_ids_from: date | None = date(2026, 5, 5)
    turn_token_from: date | None = None


GEMINI_3 = AnswerForm()
FLASH_LITE = replace(GEMINI_3, signed=frozenset(Signable))
GEMINI_2_5 = AnswerForm(
    closes_empty=False,
    splits_calls=False,
    counts_thoughts_at_once=True,
    restores_thoughts=False,
    signed=frozenset({Signable.CALL, Signable.TEXT_WITH_FUNCTIONS}),
    opening=75,
    chunk=130,
    call_ids_from=None,
)

FORMS: Mapping[str, AnswerForm] = MappingProxyType(
    {
        "gemini-": GEMINI_3,
        "gemini-2": GEMINI_2_5,
        "gemini-2.5-pro": replace(GEMINI_2_5, splits_calls=True, opening=100, chunk=100),
        "gemini-3.1-flash-lite": FLASH_LITE,
        "gemini-3.5-flash": replace(GEMINI_3, restores_past_turns=True, turn_token_from=date(2026, 8, 31)),
        "gemini-3.5-flash-lite": FLASH_LITE,
    }
)
"""Forms by the prefix of the name of the model that answers; the longest prefix holds."""

TIER_FROM = date(2026, 5, 13)
"""The day of the first recording whose usage names a service tier."""


@dataclass(frozen=True, slots=True)
class FormTable:
    """The forms in which an emulator answers: those of `day`, today's when it lies in the future."""

    forms: Mapping[str, AnswerForm] = field(default_factory=lambda: FORMS)
    day: date = date.max
    tier_from: date = TIER_FROM

    def of(self, version: str) -> AnswerForm:
        return self.forms[max((prefix for prefix in self.forms if version.startswith(prefix)), key=len)]

    def holds(self, since: date | None) -> bool:
        """Whether what began on `since` is part of an answer."""
        return since is not None and since <= self.day


NEWEST = FormTable()
