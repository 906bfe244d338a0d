"""From a typed function to what the model reads about it, and back from arguments to a call.

The declaration uses `parameters` in the OpenAPI subset with lower-case types, as seed 2 writes
it. Declarations are part of the cached prefix: the same function gives the same bytes.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sessions_app.errors import ToolError
from sessions_app.tools.context import ToolContext

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


def declare(function: Callable[..., Any], arguments: type[BaseModel]) -> dict[str, Any]:
    """One functionDeclaration: `name`, `description`, and `parameters` when there are any.

    Raises TypeError for a parameter whose type has no plain schema (a union, a model, an enum class).
    """
    declaration = {"name": function.__name__, "description": description_of(function)}
    if not arguments.model_fields:
        return declaration
    return declaration | {"parameters": _subset(arguments.model_json_schema())}


def description_of(function: Callable[..., Any]) -> str:
    return " ".join(inspect.cleandoc(function.__doc__ or "").split())


def validate(arguments: type[BaseModel], args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the function wants them. Raises ToolError in words for the model."""
    try:
        valid = arguments.model_validate(dict(args))
    except ValidationError as error:
        raise ToolError(_in_words(error), hint=_usage(arguments)) from error
    return {name: getattr(valid, name) for name in arguments.model_fields}


def _subset(schema: dict[str, Any], name: str = "") -> dict[str, Any]:
    if "type" not in schema:
        raise TypeError(f"the parameter {name} has no plain type")
    kept = {key: schema[key] for key in KEPT_KEYWORDS if key in schema}
    if "properties" in kept:
        kept["properties"] = {name: _subset(value, name) for name, value in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _subset(kept["items"], name)
    return kept


def _in_words(error: ValidationError) -> str:
    return "; ".join(_sentence(detail["type"], detail["loc"], detail["msg"]) for detail in error.errors())


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
