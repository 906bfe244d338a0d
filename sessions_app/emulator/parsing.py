"""From a request body to a shape, or to the words Google refuses it with."""

from collections.abc import Sequence
from typing import TypeVar

import orjson
from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from sessions_app.emulator.refusals import Refusal, invalid, unknown_field
from sessions_app.emulator.shapes import Shape

S = TypeVar("S", bound=Shape)


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
        raise _refusal(error.errors(include_url=False)[0]) from None


def _refusal(error: ErrorDetails) -> Refusal:
    location = error["loc"]
    if error["type"] == "extra_forbidden":
        return unknown_field(str(location[-1]), field_path(location[:-1]))
    path = field_path(location)
    if error["type"] == "base64":
        reason = f'Base64 decoding failed for "{error["input"]}"'
        return invalid(f"Invalid value at '{path}' (TYPE_BYTES), {reason}")
    return invalid(f"Invalid value at '{path}' ({error['msg']})")


def field_path(location: Sequence[str | int]) -> str:
    """`contents[0].parts[1].function_call`, in proto spelling."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{to_snake(step)}"
    return path.removeprefix(".")
