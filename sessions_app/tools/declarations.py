"""Function declarations from typed functions, and validated arguments for their calls.

The declaration uses `parameters` in the OpenAPI subset with lower-case types, as seed 2 writes
it. Declarations are part of the cached prefix: the same function gives the same bytes.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sessions_app.errors import ToolError
from sessions_app.tools.tool_context import ToolContext
from sessions_app.wording.values import said

KEPT_KEYWORDS = ("type", "description", "enum", "items", "properties", "required")
"""What Gemini's Schema knows of JSON Schema; limits stay with pydantic, which explains them better."""


def arguments_model(function: Callable[..., Any]) -> type[BaseModel]:
    """A pydantic model of the function's parameters, without the one that takes the context."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is not ToolContext:
            required = parameter.default is inspect.Parameter.empty
            fields[name] = (hints[name], ... if required else parameter.default)
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def declare(name: str, description: str, arguments: type[BaseModel]) -> dict[str, Any]:
    """One functionDeclaration: `name`, `description`, and `parameters` when there are any.

    Raises TypeError for a parameter whose type has no plain schema (a union, a model, an enum class).
    """
    declaration = {"name": name, "description": description}
    if not arguments.model_fields:
        return declaration
    schema = arguments.model_json_schema()
    # The docstring of a model; the declaration has it already.
    schema.pop("description", None)
    return declaration | {"parameters": _subset(schema)}


def description_of(docstring: str | None) -> str:
    return " ".join(inspect.cleandoc(docstring or "").split())


def validate(arguments: type[BaseModel], args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in the types of the function. Raises ToolError with a text for the model."""
    try:
        valid = arguments.model_validate(dict(args))
    except ValidationError as error:
        raise ToolError(_error_text(error), hint=_usage(arguments)) from error
    return {name: getattr(valid, name) for name in arguments.model_fields}


def _subset(schema: dict[str, Any], name: str = "") -> dict[str, Any]:
    if "type" not in schema:
        raise TypeError(f"the parameter {name} has no plain type")
    subset = {key: schema[key] for key in KEPT_KEYWORDS if key in schema}
    if "properties" in subset:
        subset["properties"] = {name: _subset(value, name) for name, value in subset["properties"].items()}
    if "items" in subset:
        subset["items"] = _subset(subset["items"], name)
    return subset


def _error_text(error: ValidationError) -> str:
    return "; ".join(_sentence(detail["type"], detail["loc"], said(detail)) for detail in error.errors())


def _sentence(kind: str, location: tuple[int | str, ...], message: str) -> str:
    name = ".".join(map(str, location))
    if kind == "missing":
        return f"the argument “{name}” is missing"
    if kind == "extra_forbidden":
        return f"there is no argument “{name}”"
    return f"the argument “{name}” is wrong: {message[:1].lower()}{message[1:]}"


def _usage(arguments: type[BaseModel]) -> str:
    names = [
        name if field.is_required() else f"{name} (optional)"
        for name, field in arguments.model_fields.items()
    ]
    return f"Arguments: {', '.join(names)}." if names else "This tool takes no arguments."
