"""The context of a tool call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sessions_app.prompt.gauge import Gauge
from sessions_app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The read-only state of the session when the calls of one round start.

    `now` is aware and exact, unlike the rounded clock of the dynamic layer. `timezone` is the person's, as
    an IANA name. `rows` maps the key of each panel with tools to its rows; `off` are the keys of panels that
    are not sent, `locks` says of each whether the model may not switch it and why. `gauge` is None where no
    call of the round asks for it.
    """

    now: datetime
    workspace: Workspace
    rows: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    timezone: str = "UTC"
    off: frozenset[str] = frozenset()
    locks: Mapping[str, str] = field(default_factory=dict)
    gauge: Gauge | None = None
