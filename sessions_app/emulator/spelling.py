"""How a field may be written: both spellings of every name, both base64 alphabets.

proto3 JSON takes `thinkingConfig` and `thinking_config` alike, one object where a list is
meant, and bytes in the standard or the URL-safe alphabet with or without padding; google-genai
uses all of these at once (gemini-wire §1.1). Unknown names are refused.
"""

import base64
import binascii
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

T = TypeVar("T")


def decode_bytes(value: object) -> object:
    """Bytes from either alphabet; anything that is not a string is left to pydantic."""
    if not isinstance(value, str):
        return value
    plain = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        raise PydanticCustomError("base64", "Base64 decoding failed") from None


def _as_list(value: object) -> object:
    return [value] if isinstance(value, dict) else ([] if value is None else value)


Many = Annotated[list[T], BeforeValidator(_as_list)]
Bytes = Annotated[bytes, BeforeValidator(decode_bytes)]
Anything = dict[str, Any]


class Shape(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", ser_json_bytes="base64"
    )
