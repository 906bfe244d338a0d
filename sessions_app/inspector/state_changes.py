"""What changed in the state of a session between two requests, as a list."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sessions_app.inspector.request_diff import ItemPair, SettingChange
from sessions_app.inspector.source_titles import SourceTitles
from sessions_app.models import Exchange, Source
from sessions_app.prompt.comparisons import StateSubject
from sessions_app.prompt.saving_causes import ToolChange, tool_change
from sessions_app.wording import comparisons

TOOLS = "tools"

_NO_STATE = ("clock",)
"""Sources that differ in every request."""

_HISTORY = ("turn", "chunk")


@dataclass(frozen=True, slots=True)
class StateChange:
    """`old` and `new` are values, empty where there was none, and for what the diff below shows."""

    subject: StateSubject
    name: str
    old: str = ""
    new: str = ""
    how: str = ""
    """The status of the item: changed, new, gone."""

    @property
    def label(self) -> str:
        return comparisons.SUBJECTS[self.subject]


def state_changes(
    old: Exchange,
    new: Exchange,
    pairs: Sequence[ItemPair],
    settings: Sequence[SettingChange],
    titles: SourceTitles,
) -> list[StateChange]:
    """In the order of `StateSubject`; one query where the tools differ. `name_of` names a source."""
    found = [
        *_columns(old, new),
        *(_of_setting(one) for one in settings),
        *(_of_item(pair, titles) for pair in pairs if _is_state(pair)),
        *_tools(pairs),
        *_history(pairs),
    ]
    order = list(StateSubject)
    return sorted(found, key=lambda one: order.index(one.subject))


def _of_setting(change: SettingChange) -> StateChange:
    subject = StateSubject.MODEL if change.name == "model" else StateSubject.SETTING
    return StateChange(subject, change.name, change.old, change.new)


COLUMNS: Mapping[str, tuple[StateSubject, str]] = {
    "served_model": (StateSubject.MODEL, "served model"),
    "provider": (StateSubject.ENDPOINT, "provider"),
    "base_url": (StateSubject.ENDPOINT, "base URL"),
    "dialect": (StateSubject.ENDPOINT, "dialect"),
    "cache_policy": (StateSubject.CACHING, "policy"),
    "cache_mode": (StateSubject.CACHING, "mode"),
}
"""Columns of an exchange that say what it was sent with. Empty: an earlier version, or no answer yet."""


def _columns(old: Exchange, new: Exchange) -> Iterator[StateChange]:
    for column, (subject, name) in COLUMNS.items():
        before, after = getattr(old, column), getattr(new, column)
        if before and after and before != after:
            yield StateChange(subject, name, before, after)
    if old.cache_name != new.cache_name:
        yield StateChange(StateSubject.CACHING, "cache named", old.cache_name, new.cache_name)


def _kind(pair: ItemPair) -> str:
    return pair.shown.name.partition(":")[0]


def _is_state(pair: ItemPair) -> bool:
    return pair.status != "same" and _kind(pair) not in (TOOLS, *_NO_STATE, *_HISTORY)


def _of_item(pair: ItemPair, titles: SourceTitles) -> StateChange:
    subject = StateSubject.PANEL if _kind(pair) == "panel" else StateSubject.TEXT
    return StateChange(subject, titles.title(pair.shown.name), how=pair.status)


def _history(pairs: Sequence[ItemPair]) -> Iterator[StateChange]:
    """How many turns and chunks came and went; a turn may be several items."""
    for kind in _HISTORY:
        for status in ("new", "gone", "changed"):
            count = len({pair.shown.name for pair in pairs if _kind(pair) == kind and pair.status == status})
            if count:
                yield StateChange(
                    StateSubject.HISTORY, f"{count} {kind}{'' if count == 1 else 's'}", how=status
                )


def _tools(pairs: Sequence[ItemPair]) -> Iterator[StateChange]:
    """Each declared tool that differs, by its name."""
    pair = next((one for one in pairs if one.shown.name == TOOLS and one.status != "same"), None)
    if pair is None:
        return
    change = tool_change(*_declared(pair)) or ToolChange()
    ways = {"new": change.came, "gone": change.went, "changed": change.changed}
    found = [(name, how) for how, names in ways.items() for name in names]
    for name, how in sorted(found):
        yield StateChange(StateSubject.TOOL, name, how=how)


def _declared(pair: ItemPair) -> tuple[bytes, bytes]:
    """The tools of both sides, as they were sent; one query."""
    sides = [side.source if side else None for side in (pair.old, pair.new)]
    keys = [key for key in sides if key is not None]
    sources = Source.objects.filter(pk__in=keys).select_related("blob").in_bulk()
    old, new = (sources[key].blob.bytes if key is not None else b"" for key in sides)
    return old, new
