"""The tools, and how a call of one is run."""

import asyncio
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

import orjson
import structlog
from pydantic import BaseModel

from sessions_app.errors import PipewebError
from sessions_app.tools.declarations import arguments_model, declare, description_of, validate
from sessions_app.tools.results import ToolResult, failure
from sessions_app.tools.tool_context import ToolContext
from sessions_app.values import mended

TIMEOUT = 20.0
"""Seconds that a tool may take."""

OUTPUT_LIMIT = 1_000_000
"""Bytes of JSON in a response; it stays in the history and is paid for in every request."""

CHANGED = "Parts of this were no JSON or no valid text; they were replaced by the nearest that is."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """Where a tool of an MCP server comes from: `row` and `server` are keys of rows, `tool` its name there.

    `losses` are what of its declaration was left out.
    """

    row: int
    server: int
    server_title: str
    tool: str
    sha256: str
    losses: tuple[tuple[str, str], ...] = ()

    @property
    def grant(self) -> tuple[int, str, str]:
        """What “Always in this chat” allows: this tool, as it is declared now."""
        return self.server, self.tool, self.sha256


@dataclass(frozen=True, slots=True)
class Tool:
    """A typed function as the model and the pages see it; `group` is the heading that pages list it under.

    Without `arguments` it gets what the model sent, which is checked where it is run. `timeout` is seconds.

    Each tool that is on costs tokens in every request: `is_standard` ones are on by default, the others off.
    Calls of tools that `has_effects` are run in call order; a function without it returns no effects. The
    context of one that `reads_gauge` has the gauge.
    """

    name: str
    function: Callable[..., Any]
    group: str
    title: str
    description: str
    declaration: dict[str, Any]
    arguments: type[BaseModel] | None
    takes_context: bool
    is_standard: bool = True
    has_effects: bool = False
    timeout: float = TIMEOUT
    remote: RemoteTool | None = None
    reads_gauge: bool = False


def tool(function: Callable[..., Any], group: str, title: str, *, standard: bool = True) -> Tool:
    """A tool from a function: docstring → description, annotations → parameters.

    A parameter annotated ToolContext receives the context. The function returns the response
    as a dict, or a ToolResult when it has effects, and raises ToolError with a text for the model.
    """
    description, arguments = description_of(function.__doc__), arguments_model(function)
    return Tool(
        name=function.__name__,
        function=function,
        group=group,
        title=title,
        description=description,
        declaration=declare(function.__name__, description, arguments),
        arguments=arguments,
        takes_context=ToolContext in get_type_hints(function).values(),
        is_standard=standard,
    )


class Toolbox:
    """A fixed set of tools, ordered by name. Iterating gives the tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def with_tools(self, tools: Iterable[Tool]) -> "Toolbox":
        return Toolbox((*self, *tools))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def remote(self, name: str) -> RemoteTool | None:
        """Where a tool of an MCP server comes from; None for any other name."""
        return self._tools[name].remote if name in self._tools else None

    @property
    def standard(self) -> tuple[str, ...]:
        """The names of the tools that are on by default."""
        return tuple(tool.name for tool in self if tool.is_standard)

    def title_of(self, name: str) -> str:
        """Empty for an unknown name."""
        return self._tools[name].title if name in self._tools else ""

    def has_effects(self, name: str) -> bool:
        return name in self._tools and self._tools[name].has_effects

    def reads_gauge(self, names: Iterable[str]) -> bool:
        """Whether any of these tools does."""
        return any(name in self._tools and self._tools[name].reads_gauge for name in names)

    def served_by(self, *, emulator: bool) -> "Toolbox":
        """The same tools; where a real provider answers, without the demo ones, whose answers are made up."""
        return self if emulator else Toolbox(tool for tool in self if tool.group != "demo")

    def enabled(self, chosen: Collection[str] | None) -> list[str]:
        """The names among `chosen`; the standard ones for None."""
        return list(self.standard) if chosen is None else [name for name in self._tools if name in chosen]

    def declarations(self, enabled: Collection[str]) -> list[dict[str, Any]]:
        """The functionDeclarations of the tools named in `enabled`; unknown names count for nothing."""
        return [tool.declaration for tool in self if tool.name in enabled]

    async def run(
        self,
        name: str,
        args: Mapping[str, Any],
        context: ToolContext,
        timeout: float | None = None,  # noqa: ASYNC109 (an overrun is an answer here, not an exception)
        *,
        enabled: Collection[str] | None = None,
    ) -> ToolResult:
        """Runs one call. Whatever goes wrong becomes a failed result that the model can read.

        `timeout` is in seconds, by default the tool's. A tool outside `enabled` does not exist for the
        caller. Only a cancellation passes through.
        """
        allowed = self.enabled(enabled)
        if name not in allowed:
            return failure(f"There is no tool “{name}”.", f"Tools: {', '.join(allowed) or 'none'}.")
        if timeout is None:
            timeout = self._tools[name].timeout
        try:
            async with asyncio.timeout(timeout):
                return await _call(self._tools[name], args, context)
        except PipewebError as error:
            return failure(error.message, error.hint)
        except TimeoutError:
            return failure(f"The tool “{name}” took longer than {timeout:g} seconds.", "Go on without it.")
        except Exception:
            log.exception("tool_broke", tool=name)
            return failure(f"The tool “{name}” broke.", "Go on without it and say so.")


async def _call(tool: Tool, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
    values = dict(args) if tool.arguments is None else validate(tool.arguments, args)
    positional = (context,) if tool.takes_context else ()
    if inspect.iscoroutinefunction(tool.function):
        outcome = await tool.function(*positional, **values)
    else:
        outcome = await asyncio.to_thread(tool.function, *positional, **values)
    result = outcome if isinstance(outcome, ToolResult) else ToolResult(outcome)
    return _as_json(result)


def _as_json(result: ToolResult) -> ToolResult:
    """The result with a response that can be sent; what had to be changed for that is said in it."""
    response = mended(result.response)
    if response != result.response:
        response = {"remark": CHANGED, **response}
    return _within_limit(replace(result, response=response), orjson.dumps(response))


def _within_limit(result: ToolResult, body: bytes) -> ToolResult:
    if len(body) <= OUTPUT_LIMIT:
        return result
    note = f"Cut: these are the first {OUTPUT_LIMIT:,} of {len(body):,} bytes."
    return replace(result, response={"note": note, "output": body[:OUTPUT_LIMIT].decode(errors="ignore")})
