"""Parsing of prompt templates: what is allowed, which variables are used, where metering goes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jinja2 import Environment, nodes
from jinja2.exceptions import TemplateAssertionError
from jinja2.visitor import NodeTransformer

from sessions_app.prompt.filters import CHECKED, CONCAT, LOOP, SLICE
from sessions_app.prompt.sandbox import ATTRIBUTE, ITEM, METHOD, METHODS

MAX_CHARACTERS = 200_000
"""The most characters of a template."""

MAX_TOKENS = 2_000
"""Tokens inside tags; parsing and compiling them takes about 0.1 s."""

MAX_LOOP_DEPTH = 3
"""Nested loops."""

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
    """A variable that a template uses (`system.current_time`), and its line."""

    path: str
    line: int


def parse_template(environment: Environment, text: str) -> tuple[nodes.Template, tuple[Use, ...]]:
    """The parsed template with metering inserted, and the variables it uses.

    Raises jinja2.TemplateError for a syntax error or a construct that is not allowed, RecursionError
    for nesting that is too deep.
    """
    _check_size(environment, text)
    tree = environment.parse(text)
    _check(tree)
    uses = tuple(_uses(tree, set(_OWN_NAMES)))
    metered: nodes.Template = _Metered().visit(tree)
    metered.set_environment(environment)
    return metered, uses


def _check_size(environment: Environment, text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise TemplateAssertionError(
            f"a template has at most {MAX_CHARACTERS:,} characters; this has {len(text):,}", 0
        )
    for line, _kind, _value in islice(environment.lex(text), MAX_TOKENS, None):
        raise TemplateAssertionError(f"its tags have more than {MAX_TOKENS:,} words and marks", line)


def _check(tree: nodes.Template) -> None:
    """Raises TemplateAssertionError for a construct that is not allowed."""
    for node, depth in _walk(tree, 0):
        if reason := _refusal_reason(node, depth):
            raise TemplateAssertionError(reason, node.lineno)


def _refusal_reason(node: nodes.Node, depth: int) -> str:
    if isinstance(node, nodes.Stmt) and not isinstance(node, _STATEMENTS):
        return f"“{type(node).__name__.lower()}” is not available in prompts"
    if isinstance(node, nodes.For) and (depth > MAX_LOOP_DEPTH or node.recursive):
        return f"more than {MAX_LOOP_DEPTH} loops inside each other"
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
    """Wraps every expression that creates a value, and every loop, in a metering filter."""

    def get_visitor(self, node: nodes.Node) -> Callable[..., nodes.Node] | None:
        visitor: Callable[..., nodes.Node] | None = getattr(self, _VISITORS.get(type(node), ""), None)
        return visitor

    def loop(self, node: nodes.For) -> nodes.Node:
        cost = sum(_cost(each) for each, _depth in _walk(node, 0))
        self.generic_visit(node)
        node.iter = _filtered(LOOP, node.iter, nodes.Const(cost))
        return node

    def joined(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(CONCAT, nodes.List(node.nodes, lineno=node.lineno))

    def attribute(self, node: nodes.Getattr) -> nodes.Node:
        name = nodes.Const(_written(node))
        self.generic_visit(node)
        return _filtered(ATTRIBUTE, node.node, nodes.Const(node.attr), name)

    def item(self, node: nodes.Getitem) -> nodes.Node:
        name = nodes.Const(_written(node))
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return _filtered(ITEM, node.node, node.arg, name)
        bounds = (node.arg.start, node.arg.stop, node.arg.step)
        return _filtered(SLICE, node.node, *(bound or nodes.Const(None) for bound in bounds))

    def called(self, node: nodes.Call) -> nodes.Node:
        method: Any = node.node
        call: Any = _filtered(METHOD, method.node, nodes.Const(method.attr), *node.args)
        call.kwargs = node.kwargs
        return self.made(call)

    def made(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(CHECKED, node)

    def tuple(self, node: nodes.Tuple) -> nodes.Node:
        return self.made(node) if node.ctx == "load" else node

    def compared(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _filtered(CHECKED, node.expr)
        for operand in node.ops:
            operand.expr = _filtered(CHECKED, operand.expr)
        return node


_VISITORS: dict[type[nodes.Node], str] = {
    nodes.For: "loop",
    nodes.Concat: "joined",
    nodes.Getattr: "attribute",
    nodes.Getitem: "item",
    nodes.Call: "called",
    nodes.List: "made",
    nodes.Dict: "made",
    nodes.Tuple: "tuple",
    nodes.Compare: "compared",
}


def _filtered(name: str, node: nodes.Node, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)


def _cost(node: nodes.Node) -> int:
    return 1 + len(node.data) // 64 if isinstance(node, nodes.TemplateData) else 1


_OWN_NAMES = frozenset({"loop", "on", "off"})


def _uses(node: nodes.Node, bound: set[str]) -> Iterator[Use]:
    """The variables that the template does not define itself; the names that the node assigns join `bound`.

    As in Jinja, a name is defined from its assignment to the end of the block.
    """
    path = _dotted(node)
    if path:
        if path.partition(".")[0] not in bound:
            yield Use(path, node.lineno)
    elif isinstance(node, nodes.If):
        yield from _uses_of_choice(node, bound)
    elif isinstance(node, nodes.For):
        yield from _uses(node.iter, bound)
        inner = bound | _names((node.target,))
        yield from _uses_of_all([*([node.test] if node.test else []), *node.body], inner)
        yield from _uses_of_all(node.else_, set(bound))
    elif isinstance(node, nodes.With):
        yield from _uses_of_all(node.values, bound)
        yield from _uses_of_all(node.body, bound | _names(node.targets))
    elif isinstance(node, nodes.Assign):
        yield from _uses(node.node, bound)
        bound |= _names((node.target,))
    elif isinstance(node, nodes.AssignBlock):
        bound |= _names((node.target,))
        yield from _uses_of_all([*node.body, *([node.filter] if node.filter else [])], set(bound))
    else:
        is_block = isinstance(node, nodes.Scope | nodes.FilterBlock)
        yield from _uses_of_all(node.iter_child_nodes(), set(bound) if is_block else bound)


def _uses_of_all(found: Iterable[nodes.Node], bound: set[str]) -> Iterator[Use]:
    for node in found:
        yield from _uses(node, bound)


def _uses_of_choice(node: nodes.If, bound: set[str]) -> Iterator[Use]:
    """Behind it only what every branch assigns is defined."""
    branches = [set(bound) for _ in range(len(node.elif_) + 2)]
    for branch, names in zip((node, *node.elif_), branches, strict=False):
        yield from _uses(branch.test, bound)
        yield from _uses_of_all(branch.body, names)
    yield from _uses_of_all(node.else_, branches[-1])
    bound |= set.intersection(*branches)


def _names(targets: Iterable[nodes.Node]) -> set[str]:
    """The names that are assigned."""
    named = (name for target in targets for name in (target, *target.find_all(nodes.Name)))
    return {name.name for name in named if isinstance(name, nodes.Name)}


def _dotted(node: nodes.Node) -> str:
    """`a.b.c` for a chain of attributes or constant keys, else empty."""
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


def _written(node: nodes.Node) -> str:
    """`a.b[0]` for a chain of attributes and keys, as the template wrote it; `…` for anything else."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        return f"{_written(node.node)}.{node.attr}"
    if isinstance(node, nodes.Getitem):
        return f"{_written(node.node)}[{_written(node.arg)}]"
    if isinstance(node, nodes.Neg):
        return f"-{_written(node.node)}"
    return repr(node.value) if isinstance(node, nodes.Const) else "…"
