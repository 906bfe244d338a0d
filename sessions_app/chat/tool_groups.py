"""The tools of a form in their groups, with what each costs in every request."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.forms import BoundField

from sessions_app.panels.panel_list import cost_of
from sessions_app.tools import Toolbox


@dataclass(frozen=True, slots=True)
class ToolBox:
    """The checkbox of one tool; `tokens` are estimated. One that `is_granted` runs without an ask."""

    box: Any
    tokens: int
    is_on: bool
    is_granted: bool


@dataclass(frozen=True, slots=True)
class ToolGroup:
    name: str
    boxes: tuple[ToolBox, ...]

    @property
    def tokens(self) -> int:
        """Tokens of the tools that are on."""
        return sum(box.tokens for box in self.boxes if box.is_on)

    @property
    def on(self) -> int:
        return sum(box.is_on for box in self.boxes)


def tool_groups(field: BoundField, toolbox: Toolbox, granted: Collection[str] = ()) -> list[ToolGroup]:
    """The groups by name, the tools in each by title. `granted` are those that run without an ask."""
    chosen = {str(name) for name in field.value() or ()}
    tools = {tool.name: tool for tool in toolbox}

    def boxes() -> Iterator[tuple[str, ToolBox]]:
        for box in field:
            name = str(box.data["value"])
            yield tools[name].group, ToolBox(box, cost_of(tools[name]), name in chosen, name in granted)

    ordered = sorted(boxes(), key=lambda pair: (pair[0], pair[1].box.choice_label))
    return [
        ToolGroup(name, tuple(box for _, box in found))
        for name, found in groupby(ordered, lambda pair: pair[0])
    ]
