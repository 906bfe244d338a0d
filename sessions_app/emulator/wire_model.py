"""From a request body to a typed message, or to the error Google answers with.

proto3 JSON takes `thinkingConfig` and `thinking_config` alike, one object where a list is meant, null for
any field that it knows, and bytes in the standard or the URL-safe base64 alphabet, with or without padding;
google-genai uses most of these at once (gemini-wire §1.1). Unknown names are errors.
"""

import base64
import binascii
from typing import Annotated, Any, ClassVar, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel, to_snake

from sessions_app.emulator.api_errors import bad_fields, invalid
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.wire_violations import TYPES, WrongField, wrong_value

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

JsonObject = dict[str, Any]
"""A Struct: nulls inside stay."""

_AROUND = 20
"""Characters that an error shows on either side of a place."""


def decode_bytes(value: object) -> object:
    """Bytes from either alphabet; anything that is not a string is left to pydantic."""
    if not isinstance(value, str):
        return value
    standard = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error:
        raise wrong_value("TYPE_BYTES", f'Base64 decoding failed for "{value}"') from None


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else ([] if value is None else [value])


def message(name: str) -> BeforeValidator:
    """For an object that is kept as it came: its message, where something else is given."""

    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise wrong_value(TYPES + name)
        return value

    return BeforeValidator(read)


Repeated = Annotated[list[T], BeforeValidator(_as_list)]
Base64Bytes = Annotated[bytes, BeforeValidator(decode_bytes)]
Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class WireModel(BaseModel):
    """Base of all messages of the Gemini API. `wire_name` is Google's name, "" where the class has it."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", ser_json_bytes="base64"
    )
    wire_name: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        """An object without the fields that are null, which have their defaults."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            raise wrong_value(TYPES + (cls.wire_name or cls.__name__))
        return {
            name: item
            for name, item in value.items()
            if item is not None or to_snake(name) not in cls.model_fields
        }


def read_object(body: bytes) -> JsonObject:
    """Raises ApiError (400) for a body that is no JSON object, with what stands around the place.

    The words and the form are those quoted of the OpenAI-compatible API in 2026; that they are the same for
    every mistake, and the place that of our reader, is an assumption. Of bytes that are no text the words are
    protobuf's.
    """
    try:
        value = orjson.loads(body) if body else {}
    except orjson.JSONDecodeError as error:
        raise invalid(_syntax_error(body, error.pos), rule=Rule.JSON_UNREADABLE) from None
    if not isinstance(value, dict):
        message = "Invalid JSON payload received. Root element must be a message."
        raise invalid(message, rule=Rule.JSON_UNREADABLE)
    return value


def _syntax_error(body: bytes, position: int) -> str:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "Invalid JSON payload received. Encountered non UTF-8 code points."
    start = max(0, position - _AROUND)
    around = text[start : position + _AROUND]
    return f"Invalid JSON payload received. Unexpected token.\n{around}\n{' ' * (position - start)}^"


def parse(model: type[M], body: bytes, *, within: str = "") -> M:
    """Raises ApiError (400) for a body that is no JSON object, and for unknown or mistyped fields.

    `within` is the field of the request that the body is, where it is not the whole of it.
    """
    return validate(model, read_object(body), within=within)


def validate(model: type[M], value: JsonObject, *, within: str = "") -> M:
    """Raises ApiError (400), which names every field that is wrong, in the order of the body."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        wrong = [WrongField(one, value, within) for one in error.errors(include_url=False)]
        wrong.sort(key=lambda field: field.position)
        raise bad_fields(*(field.violation for field in wrong), rule=wrong[0].rule) from None
