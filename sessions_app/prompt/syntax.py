"""What a prompt template may be written with, which variables it names, and where it has to pay."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jinja2 import Environment, nodes
from jinja2.exceptions import TemplateAssertionError
from jinja2.visitor import NodeTransformer

from sessions_app.prompt.filters import CUT, JOINED, MADE, TURNS
from sessions_app.prompt.sandbox import METHODS

CHARACTERS = 200_000
"""Of a text with template syntax."""

TOKENS = 8_000
"""Words, marks and blanks inside tags: parsing them takes a tenth of a second."""

DEPTH = 3
"""Loops inside loops."""

_STATEMENTS = (
    nodes.Output,
    nodes.For,
    nodes.If,
    nodes.With,
    nodes.Assign,
    nodes.AssignBlock,
    nodes.FilterBlock,
    nodes.Scope,
    nodes.ScopedEvalContextModifier,
)


@dataclass(frozen=True, slots=True)
class Use:
    """A variable as a template names it (`system.current_time`), and the line."""

    path: str
    line: int


def read(environment: Environment, text: str) -> tuple[nodes.Template, tuple[Use, ...]]:
    """The parsed template, made to pay for what it does, and the variables it names.

    Raises jinja2.TemplateError for what is no template, or one that prompts may not use, and
    RecursionError for one that is nested too deeply.
    """
    _check_size(environment, text)
    tree = environment.parse(text)
    _check(tree)
    named = tuple(_uses(tree, _bound(tree)))
    metered: nodes.Template = _Metered().visit(tree)
    metered.set_environment(environment)
    return metered, named


def _check_size(environment: Environment, text: str) -> None:
    if len(text) > CHARACTERS:
        raise TemplateAssertionError(
            f"a template has at most {CHARACTERS:,} characters; this has {len(text):,}", 0
        )
    for line, _kind, _value in islice(environment.lex(text), TOKENS, None):
        raise TemplateAssertionError(f"its tags have more than {TOKENS:,} words and marks", line)


def _check(tree: nodes.Template) -> None:
    """Raises TemplateAssertionError for what prompts may not use."""
    for node, depth in _walk(tree, 0):
        words = _objection(node, depth)
        if words:
            raise TemplateAssertionError(words, node.lineno)


def _objection(node: nodes.Node, depth: int) -> str:
    if isinstance(node, nodes.Stmt) and not isinstance(node, _STATEMENTS):
        return f"“{type(node).__name__.lower()}” is not available in prompts"
    if isinstance(node, nodes.For) and (depth > DEPTH or node.recursive):
        return f"more than {DEPTH} loops inside each other"
    if isinstance(node, nodes.Call) and not _is_allowed(node):
        return "functions cannot be called in prompts; use a filter"
    if isinstance(node, nodes.Name) and node.name == "self":
        return "“self” is not available in prompts"
    return ""


def _is_allowed(node: nodes.Call) -> bool:
    plain = node.dyn_args is None and node.dyn_kwargs is None
    return plain and isinstance(node.node, nodes.Getattr) and node.node.attr in METHODS


def _walk(node: nodes.Node, depth: int) -> Iterator[tuple[nodes.Node, int]]:
    depth += isinstance(node, nodes.For)
    yield node, depth
    for child in node.iter_child_nodes():
        yield from _walk(child, depth)


class _Metered(NodeTransformer):
    """Puts a paying filter around everything that makes a value or goes through many."""

    def get_visitor(self, node: nodes.Node) -> Callable[..., nodes.Node] | None:
        visitor: Callable[..., nodes.Node] | None = getattr(self, _VISITORS.get(type(node), ""), None)
        return visitor

    def loop(self, node: nodes.For) -> nodes.Node:
        cost = sum(_cost(each) for each, _depth in _walk(node, 0))
        self.generic_visit(node)
        node.iter = _through(TURNS, node.iter, nodes.Const(cost))
        return node

    def joined(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _through(JOINED, nodes.List(node.nodes, lineno=node.lineno))

    def looked_up(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        bounds = (node.arg.start, node.arg.stop, node.arg.step)
        return _through(CUT, node.node, *(bound or nodes.Const(None) for bound in bounds))

    def made(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)
        return _through(MADE, node)

    def tuple(self, node: nodes.Tuple) -> nodes.Node:
        return self.made(node) if node.ctx == "load" else node

    def compared(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _through(MADE, node.expr)
        for operand in node.ops:
            operand.expr = _through(MADE, operand.expr)
        return node

    def tested(self, node: nodes.Test) -> nodes.Node:
        self.generic_visit(node)
        node.node = _through(MADE, node.node)
        node.args = [_through(MADE, each) for each in node.args or ()]
        return node


_VISITORS: dict[type[nodes.Node], str] = {
    nodes.For: "loop",
    nodes.Concat: "joined",
    nodes.Getitem: "looked_up",
    nodes.Call: "made",
    nodes.List: "made",
    nodes.Dict: "made",
    nodes.Tuple: "tuple",
    nodes.Compare: "compared",
    nodes.Test: "tested",
}


def _through(name: str, node: nodes.Node, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)


def _cost(node: nodes.Node) -> int:
    return 1 + len(node.data) // 64 if isinstance(node, nodes.TemplateData) else 1


def _bound(tree: nodes.Template) -> set[str]:
    """Names the template gives itself, by loops and assignments."""
    return {name.name for name in tree.find_all(nodes.Name) if name.ctx != "load"} | {"loop", "on", "off"}


def _uses(node: nodes.Node, bound: set[str]) -> Iterator[Use]:
    path = _dotted(node)
    if path:
        if path.partition(".")[0] not in bound:
            yield Use(path, node.lineno)
        return
    for child in node.iter_child_nodes():
        yield from _uses(child, bound)


def _dotted(node: nodes.Node) -> str:
    """`a.b.c` for a chain of look-ups by name, else nothing."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        name: Any = node.attr
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        name = node.arg.value
    else:
        return ""
    before = _dotted(node.node)
    return f"{before}.{name}" if before else ""
