"""From a request body to a typed message, or to the error Google answers with.

proto3 JSON takes `thinkingConfig` and `thinking_config` alike, one object where a list is meant,
and bytes in the standard or the URL-safe base64 alphabet, with or without padding; google-genai
uses all of these at once (gemini-wire §1.1). Unknown names are errors.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel, to_snake
from pydantic_core import ErrorDetails, PydanticCustomError

from sessions_app.emulator.api_errors import ApiError, invalid, unknown_field
from sessions_app.emulator.decisions import Rule

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

JsonObject = dict[str, Any]

_MAPS = frozenset({"properties"})


def decode_bytes(value: object) -> object:
    """Bytes from either alphabet; anything that is not a string is left to pydantic."""
    if not isinstance(value, str):
        return value
    standard = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error:
        raise PydanticCustomError("base64", "Base64 decoding failed") from None


def _as_list(value: object) -> object:
    return [value] if isinstance(value, dict) else ([] if value is None else value)


Repeated = Annotated[list[T], BeforeValidator(_as_list)]
Base64Bytes = Annotated[bytes, BeforeValidator(decode_bytes)]


class WireModel(BaseModel):
    """Base of all messages of the Gemini API."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", ser_json_bytes="base64"
    )


def parse(model: type[M], body: bytes) -> M:
    """Raises ApiError (400) for a body that is no JSON object, and for unknown or mistyped fields."""
    try:
        value = orjson.loads(body) if body else {}
    except orjson.JSONDecodeError as error:
        message = f"Invalid JSON payload received. {error.msg}."
        raise invalid(message, rule=Rule.JSON_UNREADABLE) from None
    if not isinstance(value, dict):
        message = "Invalid JSON payload received. Root element must be a message."
        raise invalid(message, rule=Rule.JSON_UNREADABLE)
    return validate(model, value)


def validate(model: type[M], value: JsonObject) -> M:
    """Raises ApiError (400), which names the first field that is wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _api_error(error.errors(include_url=False)[0], value) from None


def _api_error(error: ErrorDetails, value: Any) -> ApiError:
    location = error["loc"]
    if error["type"] == "extra_forbidden":
        return unknown_field(str(location[-1]), field_path(location[:-1], value))
    path = field_path(location, value)
    if error["type"] == "base64":
        reason = f'Base64 decoding failed for "{error["input"]}"'
        return invalid(f"Invalid value at '{path}' (TYPE_BYTES), {reason}")
    return invalid(f"Invalid value at '{path}' ({error['msg']})")


def field_path(location: Sequence[str | int], value: Any) -> str:
    """`contents[0].parts[1].function_call`, in proto spelling; the entries of a map are numbered and
    called `value`, as in `properties[1].value`."""
    path, parent = "", ""
    for step in location:
        if parent in _MAPS and isinstance(step, str):
            position = list(value).index(step) if isinstance(value, dict) and step in value else 0
            path += f"[{position}].value"
        else:
            path += f"[{step}]" if isinstance(step, int) else f".{to_snake(step)}"
        value, parent = _child(value, step), "" if parent in _MAPS else str(step)
    return path.removeprefix(".")


def _child(value: Any, step: str | int) -> Any:
    """The value at `step`; one object stands for a list of one."""
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    if isinstance(step, int):
        return value
    return value.get(step, value.get(to_snake(step))) if isinstance(value, dict) else None
