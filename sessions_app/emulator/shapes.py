"""Requests as pydantic reads them: both spellings of every field, both base64 alphabets.

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


class FunctionCall(Shape):
    id: str | None = None
    name: str = ""
    args: Anything | None = None
    partial_args: list[Any] | None = None
    will_continue: bool | None = None


class FunctionResponse(Shape):
    id: str | None = None
    name: str = ""
    response: Anything | None = None
    parts: list[Any] | None = None
    scheduling: str | None = None
    will_continue: bool | None = None


class Blob(Shape):
    mime_type: str = ""
    data: Bytes = b""
    display_name: str | None = None


class FileData(Shape):
    mime_type: str = ""
    file_uri: str = ""
    display_name: str | None = None


class Part(Shape):
    text: str | None = None
    thought: bool | None = None
    thought_signature: Bytes | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    executable_code: Anything | None = None
    code_execution_result: Anything | None = None
    tool_call: Anything | None = None
    tool_response: Anything | None = None
    video_metadata: Anything | None = None
    media_resolution: Any = None
    part_metadata: Anything | None = None

    @property
    def media_type(self) -> str:
        media = self.inline_data or self.file_data
        return media.mime_type or "application/octet-stream" if media else ""

    @property
    def kind(self) -> str:
        """Which of the oneof `data` is set; "" when none is."""
        if self.text is not None:
            return "thought" if self.thought else "text"
        return next((name for name in _DATA if getattr(self, name) is not None), "")


_DATA = (
    "function_call",
    "function_response",
    "inline_data",
    "file_data",
    "executable_code",
    "code_execution_result",
    "tool_call",
    "tool_response",
)


class Content(Shape):
    role: str = "user"
    parts: Many[Part] = []

    @property
    def calls(self) -> list[Part]:
        return [part for part in self.parts if part.function_call]

    @property
    def answers(self) -> list[FunctionResponse]:
        return [part.function_response for part in self.parts if part.function_response]

    @property
    def opens_turn(self) -> bool:
        """Standard user content: a turn starts at the newest one (seed 2)."""
        return self.role != "model" and any(not part.function_response for part in self.parts)


class FunctionDeclaration(Shape):
    name: str = ""
    description: str | None = None
    parameters: Anything | None = None
    parameters_json_schema: Any = None
    response: Anything | None = None
    response_json_schema: Any = None
    behavior: str | None = None

    @property
    def arguments(self) -> list[str]:
        """Argument names in declared order."""
        schema = self.parameters or self.parameters_json_schema
        found = schema if isinstance(schema, dict) else {}
        named = found.get("propertyOrdering") or found.get("property_ordering") or found.get("properties")
        return [str(name) for name in named] if isinstance(named, list | dict) else []


class Tool(Shape):
    function_declarations: Many[FunctionDeclaration] = []
    google_search: Anything | None = None
    google_search_retrieval: Anything | None = None
    google_maps: Anything | None = None
    code_execution: Anything | None = None
    url_context: Anything | None = None
    file_search: Anything | None = None
    computer_use: Anything | None = None


class ThinkingConfig(Shape):
    include_thoughts: bool = False
    thinking_level: str = ""
    thinking_budget: int | None = None


class GenerationConfig(Shape):
    thinking_config: ThinkingConfig = ThinkingConfig()
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    candidate_count: int | None = None
    stop_sequences: list[str] | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_mime_type: str | None = None
    response_schema: Any = None
    response_json_schema: Any = None
    response_format: Any = None
    response_modalities: list[str] | None = None
    response_logprobs: bool | None = None
    logprobs: int | None = None
    media_resolution: Any = None
    speech_config: Any = None
    image_config: Any = None
    audio_timestamp: bool | None = None
    enable_enhanced_civic_answers: bool | None = None


class Prompt(Shape):
    """What a generate request and a cached content have in common."""

    model: str = ""
    contents: Many[Content] = []
    system_instruction: Content | None = None
    tools: Many[Tool] = []
    tool_config: Anything | None = None

    @property
    def all_contents(self) -> tuple[Content, ...]:
        """What is counted, the system instruction first."""
        return (*((self.system_instruction,) if self.system_instruction else ()), *self.contents)


class GenerateRequest(Prompt):
    generation_config: GenerationConfig = GenerationConfig()
    safety_settings: Many[Anything] = []
    cached_content: str = ""
    labels: Anything | None = None
    service_tier: str | None = None
    store: bool | None = None
    continuation_token: Bytes | None = None


class CountRequest(Shape):
    contents: Many[Content] = []
    generate_content_request: GenerateRequest | None = None


class CacheRequest(Prompt):
    name: str = ""
    display_name: str = ""
    ttl: str | None = None
    expire_time: str | None = None


class CacheUpdate(Shape):
    name: str = ""
    ttl: str | None = None
    expire_time: str | None = None
