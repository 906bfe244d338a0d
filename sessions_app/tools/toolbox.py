"""The tools that exist, and the one way to run them."""

import asyncio
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_type_hints

import orjson
import structlog
from pydantic import BaseModel

from sessions_app.errors import PipewebError
from sessions_app.tools.context import ToolContext
from sessions_app.tools.declarations import arguments_model, declare, description_of, validate
from sessions_app.tools.effects import ToolResult, failure

TIMEOUT = 20.0
"""Seconds that a tool may take."""

OUTPUT_LIMIT = 1_000_000
"""Bytes of JSON that a tool may answer; it stays in the history and is paid for again and again."""

Group = Literal["built-in", "todos", "files", "memories", "notes", "demo"]
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Tool:
    """A typed function as the model and the pages see it.

    Each tool on offer costs tokens in every request: `is_standard` ones are on until a person says
    otherwise, the others off.
    """

    function: Callable[..., Any]
    group: Group
    title: str
    description: str
    declaration: dict[str, Any]
    arguments: type[BaseModel]
    takes_context: bool
    is_standard: bool = True

    @property
    def name(self) -> str:
        return self.function.__name__


def tool(function: Callable[..., Any], group: Group, title: str, *, standard: bool = True) -> Tool:
    """A tool from a function: docstring → description, annotations → parameters.

    A parameter annotated ToolContext receives the context. The function returns the response
    as a dict, or a ToolResult when it has effects, and raises ToolError to tell the model why not.
    """
    arguments = arguments_model(function)
    return Tool(
        function=function,
        group=group,
        title=title,
        description=description_of(function),
        declaration=declare(function, arguments),
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

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def standard(self) -> tuple[str, ...]:
        """The names of the tools that are on until a person says otherwise."""
        return tuple(tool.name for tool in self if tool.is_standard)

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
        timeout: float = TIMEOUT,  # noqa: ASYNC109 (an overrun is an answer here, not an exception)
        *,
        enabled: Collection[str] | None = None,
    ) -> ToolResult:
        """Run one call. Whatever goes wrong becomes a failed result that the model can read.

        `timeout` is in seconds. A tool outside `enabled` does not exist for the caller. Only a
        cancellation passes through.
        """
        allowed = self.enabled(enabled)
        if name not in allowed:
            return failure(f"There is no tool “{name}”.", f"Tools: {', '.join(allowed) or 'none'}.")
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
    values = validate(tool.arguments, args)
    positional = (context,) if tool.takes_context else ()
    if inspect.iscoroutinefunction(tool.function):
        outcome = await tool.function(*positional, **values)
    else:
        outcome = await asyncio.to_thread(tool.function, *positional, **values)
    result = outcome if isinstance(outcome, ToolResult) else ToolResult(outcome)
    return _within_limit(result, orjson.dumps(result.response))


def _within_limit(result: ToolResult, body: bytes) -> ToolResult:
    if len(body) <= OUTPUT_LIMIT:
        return result
    note = f"Cut: these are the first {OUTPUT_LIMIT:,} of {len(body):,} bytes."
    return replace(result, response={"note": note, "output": body[:OUTPUT_LIMIT].decode(errors="ignore")})
