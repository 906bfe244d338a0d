"""Evaluates arithmetic expressions from untrusted text, with limits on their size and their numbers."""

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from sessions_app.errors import ToolError

LENGTH_LIMIT = 500
"""Characters of an expression."""

DEPTH_LIMIT = 60
"""Operators and parentheses inside one another."""

BIT_LIMIT = 4_096
"""Size of an intermediate integer, about 1,200 digits."""

PLACES_LIMIT = 100
"""Second argument of round: `round(1, -10**9)` alone would fill the memory."""

Number = int | float

SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def evaluate(expression: str) -> Number:
    """The value of an expression with + - * / // % **, parentheses, abs, round, min, max and sqrt.

    Raises ToolError for everything else, for a result that is not a finite real number, and for
    whole numbers beyond BIT_LIMIT.
    """
    if len(expression) > LENGTH_LIMIT:
        raise ToolError(f"The expression is longer than {LENGTH_LIMIT} characters.")
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body, DEPTH_LIMIT)
    except ZeroDivisionError as error:
        raise ToolError("The expression divides by zero.") from error
    except OverflowError as error:
        raise ToolError("The result is too large.") from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ToolError("This is not an arithmetic expression.", hint="Write it like (2 + 3) * 4.") from error


def _value(node: ast.expr, depth: int) -> Number:
    if not depth:
        raise ToolError(f"The expression is nested deeper than {DEPTH_LIMIT} levels.")
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):
            return _bounded(number)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in SIGNS:
            return _bounded(SIGNS[type(sign)](_value(operand, depth - 1)))
        case ast.BinOp(left=left, op=symbol, right=right) if type(symbol) in OPERATORS:
            return _bounded(OPERATORS[type(symbol)](_value(left, depth - 1), _value(right, depth - 1)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return _apply(name, [_value(arg, depth - 1) for arg in args])
        case ast.BinOp(op=ast.BitXor()):
            raise ToolError("^ is not an operator here.", hint="Write a power as 2 ** 10.")
    raise ToolError(
        f"“{ast.unparse(node)[:40]}” is not a number.", hint=f"Functions: {', '.join(FUNCTIONS)}."
    )


def _bounded(number: Any) -> Number:
    if isinstance(number, int) and number.bit_length() <= BIT_LIMIT:
        return number
    if isinstance(number, float) and math.isfinite(number):
        return number
    if isinstance(number, complex):
        raise ToolError("The result is not a real number.")
    raise OverflowError


def _power(base: Number, exponent: Number) -> Any:
    if isinstance(base, int) and isinstance(exponent, int):
        least_bits = (base.bit_length() - 1) * abs(exponent)
        if least_bits > BIT_LIMIT:
            raise OverflowError
    return base**exponent


def _round(number: Number, places: Number = 0) -> Number:
    if not isinstance(places, int) or abs(places) > PLACES_LIMIT:
        raise ToolError(f"round takes at most {PLACES_LIMIT} places.")
    return round(number, places) if places else round(number)


def _apply(name: str, values: list[Number]) -> Number:
    try:
        return _bounded(FUNCTIONS[name](*values))
    except (TypeError, ValueError) as error:
        raise ToolError(f"{name} cannot be used with {values}.") from error


OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "round": _round,
    "sqrt": math.sqrt,
}
