"""From a request body to a shape, or to the words Google refuses it with."""

from collections.abc import Sequence
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from sessions_app.emulator.refusals import Refusal, invalid, unknown_field

S = TypeVar("S", bound=BaseModel)


def parse(shape: type[S], body: bytes) -> S:
    """Raises Refusal (400) for what is not JSON, not known or of the wrong type."""
    try:
        value = orjson.loads(body) if body else {}
    except orjson.JSONDecodeError as error:
        raise invalid(f"Invalid JSON payload received. {error.msg}.") from None
    if not isinstance(value, dict):
        raise invalid("Invalid JSON payload received. Root element must be a message.")
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise refusal_of(error, value) from None


def refusal_of(error: ValidationError, value: Any) -> Refusal:
    """The words for the first thing that is wrong in `value`."""
    return _refusal(error.errors(include_url=False)[0], value)


def _refusal(error: ErrorDetails, value: Any) -> Refusal:
    location = error["loc"]
    if error["type"] == "extra_forbidden":
        return unknown_field(str(location[-1]), field_path(location[:-1], value))
    path = field_path(location, value)
    if error["type"] == "base64":
        reason = f'Base64 decoding failed for "{error["input"]}"'
        return invalid(f"Invalid value at '{path}' (TYPE_BYTES), {reason}")
    return invalid(f"Invalid value at '{path}' ({error['msg']})")


def field_path(location: Sequence[str | int], value: Any) -> str:
    """`contents[0].parts[1].function_call`, in proto spelling; a map's entries are numbered and
    called `value`, as in `properties[1].value`."""
    path, inside = "", ""
    for step in location:
        if inside in _MAPS and isinstance(step, str):
            path += f"[{_index(value, step)}].value"
        else:
            path += f"[{step}]" if isinstance(step, int) else f".{to_snake(step)}"
        value, inside = _below(value, step), "" if inside in _MAPS else str(step)
    return path.removeprefix(".")


_MAPS = frozenset({"properties"})


def _index(value: Any, key: str) -> int:
    return list(value).index(key) if isinstance(value, dict) and key in value else 0


def _below(value: Any, step: str | int) -> Any:
    """The value one step down; one object stands for a list of one."""
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    if isinstance(step, int):
        return value
    return value.get(step, value.get(to_snake(step))) if isinstance(value, dict) else None
