"""The cause of what an exchange lost from a cache: one for each loss, from its verdict and its break."""

from collections.abc import Iterator
from dataclasses import dataclass

from sessions_app.prompt import wire
from sessions_app.prompt.cache_life import CacheFate, FateKind
from sessions_app.prompt.dialects.messages import FUNCTIONS, declarations_of
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import TOOLS_SOURCE
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.spellings import spelled_alike
from sessions_app.prompt.static_change import StaticChange
from sessions_app.prompt.stored import Code
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.prompt.wire import as_objects


class SavingCause(Code):
    """Why money was lost, as far as somebody can change it.

    `SYSTEM_TEXT`: text of the system instruction or of the static layer changed. `CONTEXT_FIRST`: what
    changes (panels, the clock, generated context) stands before what stays. `ORDER`: the same sources in
    another order. `SIGNATURE`: a turn came back with nothing but its thought signatures changed or dropped.
    `HISTORY`: turns were edited, replaced or left out. `IMPLICIT_LIFE` and `EXPLICIT_LIFE`: the pause was
    longer than the life of the cache. `NAMED_LESS`: the cache that a request named holds less than was
    reused before. `PROVIDER`: nothing was changed. `HARDLY_USED`: a cache cost more than it can have saved.
    """

    SYSTEM_TEXT = "system_text"
    TOOLS = "tools"
    CONTEXT_FIRST = "context_first"
    ORDER = "order"
    SIGNATURE = "signature"
    HISTORY = "history"
    ROLLED_OVER = "rolled_over"
    IMPLICIT_LIFE = "implicit_life"
    EXPLICIT_LIFE = "explicit_life"
    LET_GO = "let_go"
    OTHER_MODEL = "other_model"
    SETTINGS = "settings"
    BELOW_MINIMUM = "below_minimum"
    NEVER_CACHES = "never_caches"
    NAMED_LESS = "named_less"
    CONTINUED = "continued"
    PROVIDER = "provider"
    HARDLY_USED = "hardly_used"
    UNKNOWN = "unknown"


_BY_REASON = {
    VerdictReason.CACHE_GONE: SavingCause.PROVIDER,
    VerdictReason.NAMED: SavingCause.NAMED_LESS,
    VerdictReason.NAMED_NOT_COUNTED: SavingCause.PROVIDER,
    VerdictReason.TOO_SHORT: SavingCause.BELOW_MINIMUM,
    VerdictReason.EARLIER_TOO_SHORT: SavingCause.BELOW_MINIMUM,
    VerdictReason.OTHER_MODEL: SavingCause.OTHER_MODEL,
    VerdictReason.OTHER_SETTINGS: SavingCause.SETTINGS,
    VerdictReason.OTHER_TOOLS: SavingCause.TOOLS,
    VerdictReason.SERVED_BY_ANOTHER: SavingCause.OTHER_MODEL,
    VerdictReason.TIME_PASSED: SavingCause.IMPLICIT_LIFE,
    VerdictReason.CONTINUED: SavingCause.CONTINUED,
    VerdictReason.RAN_OUT: SavingCause.EXPLICIT_LIFE,
    VerdictReason.CACHE_LOST: SavingCause.PROVIDER,
    VerdictReason.DROPPED: SavingCause.LET_GO,
    VerdictReason.ROLLED_OVER: SavingCause.ROLLED_OVER,
    VerdictReason.OTHER_ROUTE: SavingCause.OTHER_MODEL,
    VerdictReason.UNEXPLAINED: SavingCause.PROVIDER,
}
"""Reasons that tell the cause by themselves."""

_BY_STATIC = {
    StaticChange.TOOLS: SavingCause.TOOLS,
    StaticChange.TEXT: SavingCause.SYSTEM_TEXT,
    StaticChange.ROLLED_OVER: SavingCause.ROLLED_OVER,
    StaticChange.OTHER_HISTORY: SavingCause.HISTORY,
}

_BY_FATE = {
    FateKind.EXPIRED: SavingCause.EXPLICIT_LIFE,
    FateKind.DROPPED: SavingCause.LET_GO,
    FateKind.UNUSED: SavingCause.LET_GO,
}
"""What became of the explicit cache in whose place the provider reused less on its own."""

_FROM_BREAK = {VerdictReason.LAYER_CHANGED, VerdictReason.HISTORY_REWRITTEN}
_PARTLY_SERVED = {
    VerdictReason.PART_OF_PREFIX,
    VerdictReason.WHOLE_PREFIX,
    VerdictReason.ANOTHERS_PREFIX,
}


def cause_of(verdict: Verdict | None, *, is_signature: bool = False) -> SavingCause:
    """The cause of a loss. `is_signature`: the culprit differs in nothing but thought signatures.

    UNKNOWN for a verdict of an earlier version, and for one that does not say why.
    """
    if verdict is None:
        return SavingCause.UNKNOWN
    if verdict.reason is VerdictReason.NEVER_CACHES:
        is_other = verdict.seen is not None and not verdict.seen.same_model
        return SavingCause.OTHER_MODEL if is_other else SavingCause.NEVER_CACHES
    if verdict.reason in _PARTLY_SERVED:
        return _partly_served(verdict.seen, verdict.fate, is_signature=is_signature)
    if verdict.reason in _FROM_BREAK:
        return _changed(verdict.seen, is_signature=is_signature)
    return _BY_REASON.get(verdict.reason, SavingCause.UNKNOWN)


def _partly_served(seen: Comparison | None, fate: CacheFate | None, *, is_signature: bool) -> SavingCause:
    """Why less was reused than before: another model, what changed in the prompt, the end of an explicit
    cache, else the provider.
    """
    if seen is None:
        return SavingCause.PROVIDER
    if not seen.same_model or not seen.same_served:
        return SavingCause.OTHER_MODEL
    if seen.broken:
        return _changed(seen, is_signature=is_signature)
    return _BY_FATE.get(fate.kind, SavingCause.PROVIDER) if fate else SavingCause.PROVIDER


def _changed(seen: Comparison | None, *, is_signature: bool) -> SavingCause:
    if seen is None:
        return SavingCause.UNKNOWN
    if seen.static in _BY_STATIC:
        return _BY_STATIC[seen.static]
    return _of_culprit(seen.broken, is_signature=is_signature) if seen.broken else SavingCause.UNKNOWN


def _of_culprit(broken: BreakLine, *, is_signature: bool) -> SavingCause:
    if broken.kind is BreakKind.UNKNOWN:
        return SavingCause.UNKNOWN
    if broken.source == TOOLS_SOURCE:
        return SavingCause.TOOLS
    if broken.kind is BreakKind.MOVED:
        return SavingCause.ORDER
    if broken.layer == Layer.STATIC:
        return SavingCause.SYSTEM_TEXT
    if broken.layer == Layer.DYNAMIC:
        return SavingCause.CONTEXT_FIRST
    is_signature = is_signature or broken.kind is BreakKind.SIGNED_OTHERWISE
    return SavingCause.SIGNATURE if is_signature else SavingCause.HISTORY


def may_be_signature(verdict: Verdict | None) -> bool:
    """Whether the cause depends on what differs within the culprit, a turn that was sent before as well."""
    found = verdict.seen.broken if verdict is not None and verdict.seen is not None else None
    kinds = (BreakKind.CHANGED, BreakKind.CHANGED_AND_MOVED)
    return found is not None and found.kind in kinds and cause_of(verdict) is SavingCause.HISTORY


@dataclass(frozen=True, slots=True)
class ToolChange:
    """Names of tools that came, went, or are declared otherwise; all empty where only the order differs."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def tool_change(before: bytes, now: bytes) -> ToolChange | None:
    """What differs in the `tools` of two requests (empty: no tools); None for what cannot be read."""
    try:
        old, new = dict(declared_in(before)), dict(declared_in(now))
    except (ValueError, TypeError):
        return None
    return ToolChange(
        came=tuple(name for name in new if name not in old),
        went=tuple(name for name in old if name not in new),
        changed=tuple(name for name in new if name in old and old[name] != new[name]),
    )


def declared_in(tools: bytes) -> Iterator[tuple[str, bytes]]:
    """Each function by its name, and each tool of the provider by its key, with what is declared of it.

    Raises ValueError for what is no tool.
    """
    found = spelled_alike(wire.loads(tools)) if tools else []
    listed = as_objects(found)
    if len(listed) < (len(found) if isinstance(found, list) else 1):
        raise ValueError("no tools")
    for one in declarations_of(listed):
        yield wire.well_formed(str(one.get("name", ""))), wire.canonical(one)
    for tool in listed:
        own = ((key, value) for key, value in tool.items() if key not in FUNCTIONS)
        yield from ((wire.well_formed(key), wire.canonical(value)) for key, value in own)
