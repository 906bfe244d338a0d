"""The gauge of a request: its tokens by layer and panel, and what a change of one source would send again."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sessions_app.prompt.layers import Layer
from sessions_app.prompt.tokens import cached_percent

PANEL = "panel:"
CHUNK = "chunk:"


class GaugeItem(NamedTuple):
    """One item of a manifest, by its source."""

    source: str
    layer: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Gauge:
    """The last request, its items in reading order.

    `prompt` and `cached` are the provider's counts, None where it gave none; `window` is the input limit of
    the model. Tokens of items are estimated.
    """

    items: tuple[GaugeItem, ...] = ()
    prompt: int | None = None
    cached: int | None = None
    window: int = 0

    @property
    def chunks(self) -> tuple[GaugeItem, ...]:
        """The history chunks, oldest first."""
        return tuple(item for item in self.items if item.source.startswith(CHUNK))

    def of_panel(self, key: str) -> frozenset[str]:
        """The sources of a panel; of a kind of files those of all its files."""
        name = f"{PANEL}{key}"
        return frozenset(
            item.source for item in self.items if item.source == name or item.source.startswith(f"{name}/")
        )

    def tokens_of(self, sources: Collection[str]) -> int:
        return sum(item.tokens for item in self.items if item.source in sources)

    def behind(self, gone: Collection[str], changed: Collection[str] = ()) -> int:
        """Tokens that are sent again when the sources of `gone` leave and those of `changed` change: whatever
        stands from the first of them on, but for what leaves."""
        first = self._first(lambda item: item.source in gone or item.source in changed)
        return sum(item.tokens for item in self.items[first:] if item.source not in gone)

    def behind_panels(self) -> int:
        """Tokens that are sent again when a panel is added, which stands behind the others."""
        last = max((at for at, item in enumerate(self.items) if item.source.startswith(PANEL)), default=None)
        if last is not None:
            return sum(item.tokens for item in self.items[last + 1 :])
        first = self._first(lambda item: item.layer != Layer.STATIC)
        return sum(item.tokens for item in self.items[first:])

    def as_sent(self) -> dict[str, Any]:
        """What the model reads of it."""
        panels = _panel_names(self.items)
        layers = {one.value: sum(item.tokens for item in self.items if item.layer == one) for one in Layer}
        told: dict[str, Any] = {"layer_tokens": layers}
        if panels:
            told["panels"] = {
                name.removeprefix(PANEL): {
                    "tokens": self.tokens_of([name]),
                    "resent_if_changed": self.behind([], [name]),
                }
                for name in panels
            }
        if self.chunks:
            told["history_parts"] = [
                {"part": number, "tokens": item.tokens, "resent_if_dropped": self.behind([item.source])}
                for number, item in enumerate(self.chunks, 1)
            ]
        if (percent := cached_percent(self.cached, self.prompt)) is not None:
            told["cached_percent"] = percent
        if self.prompt and self.window:
            told["window_left"] = max(0, self.window - self.prompt)
        return told

    def _first(self, is_it: Callable[[GaugeItem], bool]) -> int:
        return next((at for at, item in enumerate(self.items) if is_it(item)), len(self.items))


def _panel_names(items: Sequence[GaugeItem]) -> list[str]:
    return list(dict.fromkeys(item.source for item in items if item.source.startswith(PANEL)))
