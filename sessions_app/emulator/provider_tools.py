"""The provider's own tools: search, code execution and URL context.

A text calls for a tool by its cue, and only where the request declares the tool; any other text is
answered without it, as the model does that needs none. Nothing is searched, run or fetched: results
are invented, and arithmetic is worked out here.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedReply, ToolUse

EXAMPLES = MappingProxyType(
    {
        "google_search": "search for the largest city in Mexico",
        "google_search_retrieval": "search for the largest city in Mexico",
        "code_execution": "compute 2*(3+4)",
        "url_context": "summarize https://example.com/",
    }
)
"""What to type for each tool that is played."""

_SEARCH = re.compile(
    r"\b(?:search(?: the web| online| google)?(?: for)?|look up|google)\s*:?\s+(.+)", re.I | re.S
)
_NEWS = re.compile(
    r"\b(?:news|headlines|latest|right now|this week|today|tonight|yesterday|use (?:the )?web search)\b", re.I
)
"""What a model cannot know by itself: it searches for the text as it was asked."""

_COMPUTE = re.compile(
    r"\b(?:compute|calculate|evaluate|run code for|what is|what's)\s*:?\s*([-+*/%().\d\s]+)", re.I
)
_URL = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]]", re.I)
_LONGEST_QUERY, _LONGEST_EXPRESSION, _MOST_URLS = 200, 200, 20
_MOST_BITS = 4_096
"""The most bits of the result of a power: larger ones take long."""
_UNREACHABLE = re.compile(r"https?://[^/]*\.invalid(?:[:/]|$)", re.I)


def use_provider_tools(context: ScenarioContext) -> ScriptedReply | None:
    """The answer that uses each declared tool the text calls for; None where it calls for none."""
    if context.last is not None:
        return None
    uses = [
        use for tool, find in _TOOLS.items() if tool in context.provider_tools and (use := find(context.text))
    ]
    if not uses:
        return None
    thought = "**Reading what the tools said**\n\nTheir results go into the text."
    return ScriptedReply(text=" ".join(map(_told, uses)), thoughts=(thought,), tool_uses=tuple(uses))


def is_unreachable(url: str) -> bool:
    """Addresses under `.invalid` cannot be retrieved."""
    return _UNREACHABLE.match(url) is not None


def _search(text: str) -> ToolUse | None:
    match = _SEARCH.search(text)
    asked = match[1] if match else text if _NEWS.search(text) else ""
    query = " ".join(asked.split()).rstrip(".?!")[:_LONGEST_QUERY]
    if not query:
        return None
    return ToolUse("google_search", f"**Searching the web**\n\nThe query is “{query}”.", queries=(query,))


def _read_pages(text: str) -> ToolUse | None:
    urls = tuple(dict.fromkeys(_URL.findall(text)))[:_MOST_URLS]
    thought = "**Retrieving pages**\n\nThe text names their addresses."
    return ToolUse("url_context", thought, urls=urls) if urls else None


def _run_code(text: str) -> ToolUse | None:
    expression = match[1].strip().rstrip(".") if (match := _COMPUTE.search(text)) else ""
    if len(expression) > _LONGEST_EXPRESSION or not re.search(r"\d\s*[-+*/%]", expression):
        return None
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        return None
    thought = "**Running code**\n\nPython works this out."
    code = f"result = {expression}\nprint(result)\n"
    try:
        output, is_failure = f"{_value(tree.body)}\n", False
    except (ArithmeticError, ValueError, TypeError) as error:
        output, is_failure = f"{type(error).__name__}: {error}\n", True
    return ToolUse("code_execution", thought, code=code, output=output, is_failure=is_failure)


_TOOLS: Mapping[str, Callable[[str], ToolUse | None]] = MappingProxyType(
    {
        "url_context": _read_pages,
        "code_execution": _run_code,
        "google_search": _search,
        "google_search_retrieval": _search,
    }
)


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > _MOST_BITS:
        raise OverflowError("the result is too large")
    return base**exponent


_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: _power,
        ast.UAdd: operator.pos,
        ast.USub: operator.neg,
    }
)


def _value(node: ast.expr) -> Any:
    """The value of an arithmetic expression; raises TypeError for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise TypeError("the expression is not arithmetic")


def _told(use: ToolUse) -> str:
    if use.queries:
        return (
            f"A search for “{use.queries[0]}” found two pages. The emulator is offline, so both are invented."
        )
    if use.code and use.is_failure:
        return f"The code did not work: {use.output.strip()}."
    if use.code:
        return f"The result is **{use.output.strip()}**."
    pages = "page" if len(use.urls) == 1 else f"{len(use.urls)} pages"
    read = [url for url in use.urls if not is_unreachable(url)]
    if not read:
        return f"I could not retrieve the {pages}."
    return f"I looked at the {pages}. The emulator is offline, so it knows no more than the address."
