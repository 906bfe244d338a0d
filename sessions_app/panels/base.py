"""Base classes of panel kinds and their actions, and the value of a panel as a page shows it.

A kind is a subclass of PanelKind, listed in `panels.KINDS`, with a template in `templates/panels/` and, where
it has rows, a model.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, field_validator

from sessions_app.context.arguments import Render
from sessions_app.errors import RowGone
from sessions_app.models import Session, SessionSettings
from sessions_app.panels.file_pages import ReadFile
from sessions_app.panels.rows import R, Rows, RowSource
from sessions_app.prompt.layers import json_text
from sessions_app.prompt.panels import Panel
from sessions_app.tools.declarations import declare, description_of
from sessions_app.tools.results import ToolResult
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.toolbox import Tool
from sessions_app.values import check_text
from sessions_app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class DisplayValue:
    """A JSON value for a template: a text, named values or a list."""

    text: str = ""
    pairs: tuple[tuple[str, "DisplayValue"], ...] = ()
    items: tuple["DisplayValue", ...] = ()

    @property
    def is_long(self) -> bool:
        return "\n" in self.text


def display_value(value: Any) -> DisplayValue:
    if isinstance(value, Mapping):
        return DisplayValue(
            pairs=tuple((str(key).replace("_", " "), display_value(item)) for key, item in value.items())
        )
    if isinstance(value, list | tuple):
        return DisplayValue(items=tuple(map(display_value, value)))
    if isinstance(value, bool):
        return DisplayValue("yes" if value else "no")
    return DisplayValue(f"{value:,}" if isinstance(value, int) else str(value))


def sent_text(panel: Panel) -> str:
    return f"{json_text(panel.key)}: {json_text(panel.value)}"


@dataclass(frozen=True, slots=True)
class PanelInputs:
    """What panels read.

    `tools` maps the name of every tool to whether the session has it on. `began` is the start of the run that
    sends them; a page reads them as a run would that begins now. `render` is for texts of the library.
    """

    session: Session
    options: SessionSettings
    workspace: Workspace
    now: datetime
    rows: Rows
    tools: Mapping[str, bool]
    began: datetime
    render: Render


@dataclass(frozen=True, slots=True)
class PanelValue:
    """The content of a panel as JSON; nothing is sent if falsy. `problem` is a sentence for the person.

    `files` is set for a kind of files: each is a panel of its own, `<key of the kind>/<path>`, and has pages.
    """

    value: Any = None
    problem: str = ""
    files: tuple[ReadFile, ...] | None = None


class Action(BaseModel):
    """A change of a panel's rows, by a form of the page or a call of the model; its fields are the arguments.

    With `tool_title` it is a tool: its name in snake case, its docstring and its fields are the declaration.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_title: ClassVar[str] = ""
    is_standard_tool: ClassVar[bool] = True
    reads_gauge: ClassVar[bool] = False

    @field_validator("*", mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        """Refuses what cannot be stored, and turns the CRLF of forms into LF."""
        return check_text(value).replace("\r\n", "\n") if isinstance(value, str) else value

    @classmethod
    def action_name(cls) -> str:
        """`AddTodo` → `add_todo`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def answer(self, context: ToolContext) -> dict[str, Any]:
        """The tool response, from the rows before the calls of the round; writes nothing.

        Raises ToolError or WorkspaceError for what cannot be done.
        """
        raise NotImplementedError

    def carry_out(self, session: Session) -> str:
        """Writes the change and returns a sentence for the person.

        Raises RowGone for a row that the session does not have; NotKept, ToolError or WorkspaceError for what
        cannot be done.
        """
        raise NotImplementedError

    @classmethod
    def as_tool(cls, group: str) -> Tool:
        name, description = cls.action_name(), description_of(cls.__doc__)

        def call(context: ToolContext, **values: Any) -> ToolResult:
            action = cls(**values)
            return ToolResult(action.answer(context), (action,))

        return Tool(
            name=name,
            function=call,
            group=group,
            title=cls.tool_title,
            description=description,
            declaration=declare(name, description, cls),
            arguments=cls,
            takes_context=True,
            is_standard=cls.is_standard_tool,
            has_effects=True,
            reads_gauge=cls.reads_gauge,
        )


class PanelKind(RowSource[R]):
    """One kind of panel; `key` names it in the dynamic layer, in `SessionSettings.panels` and in URLs.

    On by default are kinds whose content the person or the model put there: they are small, and nothing is
    sent while they are empty. Off by default are kinds that cost tokens in every request unasked, or change
    so often that they break the cached prefix behind them. `description` tells the person what the panel
    shows and, where it is off, why. `template` is the name of the template where it is not the key.
    """

    position: ClassVar[int]
    """Place in the product's order; unique."""
    title: ClassVar[str]
    description: ClassVar[str]
    default_on: ClassVar[bool] = False
    template: ClassVar[str] = ""
    actions: ClassVar[tuple[type[Action], ...]] = ()
    tool_group: ClassVar[str] = ""
    reading_tools: ClassVar[tuple[Tool, ...]] = ()
    """Tools that write nothing."""
    runs_programs: ClassVar[bool] = False

    def value(self, inputs: PanelInputs) -> PanelValue:
        """What is sent of it: by default the rows, each as its `value`."""
        return PanelValue([row.value for row in self.of(inputs)])

    def template_context(self, session: Session, read: "ReadPanel") -> dict[str, Any]:
        """The context of its template. `rows` are those that are sent, read when the template uses them."""
        value = display_value(read.panels[0].value) if read.sent else None
        return {"value": value, "rows": self.stored(session)}

    def expire(self, session: Session, rows: Rows) -> bool:
        """Ends expired rows before a request. Returns whether it wrote."""
        return False

    def due(self, session: Session, read: Mapping[str, datetime], now: datetime) -> "list[DueReading]":
        """The programs to run now; `read` maps keys of readings to their times."""
        return []

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """Those that the model may call. A schema takes longer than a query, and each round asks."""
        made = (action.as_tool(self.tool_group) for action in self.actions if action.tool_title)
        return (*made, *self.reading_tools)

    @property
    def template_path(self) -> str:
        return f"panels/{self.template or self.key}.html"

    @cached_property
    def limits(self) -> dict[str, dict[str, int]]:
        """Maximum lengths: name of the action → name of the field → characters."""
        fields = {one.action_name(): one.model_json_schema().get("properties", {}) for one in self.actions}
        return {
            action: {name: schema["maxLength"] for name, schema in found.items() if "maxLength" in schema}
            for action, found in fields.items()
        }

    def action(self, name: str) -> type[Action] | None:
        return next((action for action in self.actions if action.action_name() == name), None)

    def is_on(self, options: SessionSettings) -> bool:
        return options.panels.get(self.key, options.panels_of_model.get(self.key, self.default_on))


def existing(rows: Any, otherwise: str) -> Any:
    """Returns `rows`, a queryset limited to a session. Raises RowGone where it is empty."""
    if not rows.exists():
        raise RowGone(otherwise)
    return rows


@dataclass(frozen=True, slots=True)
class SentPanel:
    """A panel with its hash. `tokens` are estimated; `changed`: it differs from what was sent last, or
    nothing is known to have been sent of it (`is_first`).
    """

    panel: Panel
    sha256: str
    tokens: int
    changed: bool
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class ReadPanel:
    """One kind as it would be sent now.

    `sent` is empty when it is off or has nothing; a kind of files sends a panel for each. `problem` is a
    sentence for the person.
    """

    kind: PanelKind[Any]
    is_on: bool
    sent: tuple[SentPanel, ...] = ()
    page: int = 1
    pages: int = 1
    problem: str = ""
    files: tuple[ReadFile, ...] = ()

    @property
    def panels(self) -> tuple[Panel, ...]:
        return tuple(one.panel for one in self.sent)

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.sent)

    @property
    def changed(self) -> bool:
        """Whether any of it differs from what was sent last."""
        return any(one.changed for one in self.sent)

    @property
    def is_first(self) -> bool:
        """Whether nothing of it is known to have been sent; `sent` must not be empty."""
        return all(one.is_first for one in self.sent)

    @property
    def changed_at(self) -> datetime:
        """The time of the newest change; `sent` must not be empty."""
        return max(panel.changed for panel in self.panels)


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The text of stdout and stderr in the order of arrival, and whether the program failed."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class DueReading:
    """A program to run for a session; `take` blocks until it ends. The output is stored under `key`."""

    session: int
    key: str
    take: Callable[[], ProgramOutput]
