"""The cause of a loss, by its verdict and by what differs."""

from dataclasses import replace

import orjson
import pytest

from sessions_app.prompt.cache_life import CacheFate, FateKind
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.saving_causes import (
    SavingCause,
    ToolChange,
    cause_of,
    may_be_signature,
    tool_change,
)
from sessions_app.prompt.static_change import StaticChange
from sessions_app.prompt.verdict import CODES, Comparison, Verdict, VerdictReason

C = SavingCause
SEEN = Comparison(7, 9_000, 10_000, was_prompt=9_100, idle_seconds=600)
WITHOUT_LOSS = {VerdictReason.NOTHING_BEFORE, VerdictReason.ANOTHERS_PREFIX}
"""No exchange was before them."""


def broken(layer: str, source: str, kind: BreakKind = BreakKind.CHANGED) -> Comparison:
    return replace(SEEN, broken=BreakLine(kind, layer, source, 0, None, "", "", ""))


BROKEN = [
    (broken("static", "tools"), C.TOOLS),
    (broken("static", "template:static"), C.SYSTEM_TEXT),
    (broken("static", "system"), C.SYSTEM_TEXT),
    (broken("dynamic", "panel:todos"), C.CONTEXT_FIRST),
    (broken("dynamic", "clock", BreakKind.APPEARED), C.CONTEXT_FIRST),
    (broken("dynamic", "panel:todos", BreakKind.MOVED), C.ORDER),
    (broken("buffered", "turn:4f", BreakKind.MOVED), C.ORDER),
    (broken("buffered", "turn:4f", BreakKind.REPLACED), C.HISTORY),
    (broken("buffered", "turn:4f", BreakKind.SHORTENED), C.HISTORY),
    (broken("buffered", "turn:4f"), C.HISTORY),
    (broken("buffered", "turn:4f", BreakKind.UNKNOWN), C.UNKNOWN),
    (replace(broken("buffered", "turn:4f"), static=StaticChange.TOOLS), C.TOOLS),
    (replace(broken("static", "chunk:1"), static=StaticChange.ROLLED_OVER), C.ROLLED_OVER),
    (replace(broken("static", "chunk:1"), static=StaticChange.OTHER_HISTORY), C.HISTORY),
    (replace(broken("static", "template:static"), static=StaticChange.TEXT), C.SYSTEM_TEXT),
]


@pytest.mark.parametrize(("seen", "cause"), BROKEN)
@pytest.mark.parametrize("reason", [VerdictReason.LAYER_CHANGED, VerdictReason.PART_OF_PREFIX])
def test_the_culprit_of_a_break_tells_the_cause(
    seen: Comparison, cause: SavingCause, reason: VerdictReason
) -> None:
    assert cause_of(Verdict(reason, seen)) is cause


def test_every_verdict_that_a_loss_is_known_of_has_a_cause() -> None:
    known = [one for one in VerdictReason if CODES[one] is not VerdictCode.UNKNOWN]
    seen = broken("dynamic", "panel:todos")
    found = {one: cause_of(Verdict(one, seen)) for one in known if one not in WITHOUT_LOSS}
    assert C.UNKNOWN not in found.values()
    assert cause_of(None) is C.UNKNOWN


def test_a_part_that_was_served_less_without_a_break_is_the_providers() -> None:
    assert cause_of(Verdict(VerdictReason.WHOLE_PREFIX, SEEN)) is C.PROVIDER
    assert cause_of(Verdict(VerdictReason.PART_OF_PREFIX, replace(SEEN, same_model=False))) is C.OTHER_MODEL
    served = replace(SEEN, same_served=False, broken=BROKEN[0][0].broken)
    assert cause_of(Verdict(VerdictReason.PART_OF_PREFIX, served)) is C.OTHER_MODEL
    never = Verdict(VerdictReason.NEVER_CACHES, replace(SEEN, same_model=False))
    assert (cause_of(never), cause_of(replace(never, seen=SEEN))) == (C.OTHER_MODEL, C.NEVER_CACHES)


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        (FateKind.EXPIRED, C.EXPLICIT_LIFE),
        (FateKind.DROPPED, C.LET_GO),
        (FateKind.UNUSED, C.LET_GO),
        (FateKind.GONE, C.PROVIDER),
        (FateKind.UNKNOWN, C.PROVIDER),
    ],
)
def test_less_than_an_explicit_cache_held_is_caused_by_its_end(kind: FateKind, cause: SavingCause) -> None:
    verdict = Verdict(VerdictReason.PART_OF_PREFIX, SEEN, fate=CacheFate(kind))
    assert cause_of(verdict) is cause
    changed = replace(verdict, seen=BROKEN[3][0])
    assert cause_of(changed) is C.CONTEXT_FIRST


@pytest.mark.parametrize(
    ("verdict", "cause"),
    [
        (Verdict(VerdictReason.PART_OF_PREFIX), C.PROVIDER),
        (Verdict(VerdictReason.LAYER_CHANGED), C.UNKNOWN),
        (Verdict(VerdictReason.LAYER_CHANGED, SEEN), C.UNKNOWN),
        (Verdict(VerdictReason.NEVER_CACHES), C.NEVER_CACHES),
        (Verdict(VerdictReason.NOT_RECORDED, SEEN), C.UNKNOWN),
    ],
)
def test_nothing_more_is_said_than_was_compared(verdict: Verdict, cause: SavingCause) -> None:
    assert cause_of(verdict) is cause
    assert not may_be_signature(verdict) and not may_be_signature(None)


def test_signatures_are_asked_of_a_turn_that_was_there_before() -> None:
    for kind in BreakKind:
        verdict = Verdict(VerdictReason.PART_OF_PREFIX, broken("buffered", "turn:4f", kind))
        asked = kind in (BreakKind.CHANGED, BreakKind.CHANGED_AND_MOVED)
        assert may_be_signature(verdict) == asked
        if asked:
            assert cause_of(verdict, is_signature=True) is C.SIGNATURE
    assert not may_be_signature(Verdict(VerdictReason.PART_OF_PREFIX, broken("dynamic", "panel:todos")))


def test_a_break_that_names_signatures_is_not_asked_of() -> None:
    seen = broken("buffered", "turn:4f", BreakKind.SIGNED_OTHERWISE)
    assert cause_of(Verdict(VerdictReason.LAYER_CHANGED, seen)) is C.SIGNATURE


def tools(*names: str, **beside: object) -> bytes:
    declared = [{"name": name, "description": name.upper()} for name in names]
    return orjson.dumps([{"functionDeclarations": declared}, *([beside] if beside else [])])


def test_what_happened_to_the_tools() -> None:
    assert tool_change(tools("a", "b"), tools("b", "a")) == ToolChange()
    assert tool_change(tools("a", "b"), tools("b", "c", googleSearch={})) == ToolChange(
        came=("c", "googleSearch"), went=("a",)
    )
    assert tool_change(tools("a"), tools("a").replace(b'"A"', b'"B"')) == ToolChange(changed=("a",))
    assert tool_change(b"", tools("a")) == ToolChange(came=("a",))
    for unreadable in (b"{", b'"tools"', b"[1]"):
        assert tool_change(unreadable, tools("a")) is None


def test_names_of_tools_can_be_shown_whatever_a_program_sent() -> None:
    odd = b'[{"functionDeclarations": [{"name": "half \\ud83d"}], "\\ud83d": {}}]'
    assert tool_change(b"", odd) == ToolChange(came=("half \ufffd", "\ufffd"))
