"""Requests of the Interactions API as pydantic reads them. Names are snake_case; unknown ones are errors.

`input` is a text, a content, a list of contents or a list of steps; all become steps here.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sessions_app.emulator.interactions_errors import (
    InteractionError,
    legacy_schema,
    refused,
    unimplemented,
    unknown_parameter,
)
from sessions_app.emulator.wire_model import JsonObject, Repeated, read_object
from sessions_app.emulator.wire_violations import field_path

ContentType = Literal["text", "image", "audio", "video", "document"]
_CONTENT_TYPES = frozenset({"text", "image", "audio", "video", "document"})
_REQUIRED = {"function_call": ("id", "name"), "function_result": ("call_id", "result")}
_NOT_HERE = ("environment", "webhook_config", "agent_config")


class InteractionModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StepContent(InteractionModel):
    """`data` is base64 text; it goes on as it came."""

    type: ContentType
    text: str | None = None
    annotations: list[Any] | None = None
    data: str | None = None
    uri: str | None = None
    mime_type: str | None = None
    resolution: str | None = None

    @property
    def media_type(self) -> str:
        default = "application/pdf" if self.type == "document" else f"{self.type}/*"
        return self.mime_type or default


class InteractionStep(InteractionModel):
    """A step of any type with the fields of all. The types of the provider's own tools end in `_call` and
    `_result`."""

    type: str
    content: list[StepContent] | None = None
    error: JsonObject | None = None
    signature: str | None = None
    summary: list[StepContent] | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    server_name: str | None = None
    arguments: JsonObject | None = None
    result: Any = None
    is_error: bool | None = None
    search_type: str | None = None

    @property
    def is_known(self) -> bool:
        return self.type in {"user_input", "model_output", "thought"} or self.type.endswith(
            ("_call", "_result")
        )

    @property
    def is_from_model(self) -> bool:
        return self.type not in {"user_input", "function_result"}

    @property
    def missing(self) -> str:
        """The first required field that is not there, or ""."""
        needed = _REQUIRED.get(self.type, ())
        return next((name for name in needed if getattr(self, name) is None), "")


def _as_steps(value: object) -> object:
    """Raises InteractionError (400) for the turns of role and content that ended in June 2026."""
    if isinstance(value, str):
        value = {"type": "text", "text": value}
    items = value if isinstance(value, list) else [value]
    objects = [item for item in items if isinstance(item, dict)]
    if any("role" in item for item in objects):
        raise legacy_schema()
    if objects and all(item.get("type") in _CONTENT_TYPES for item in objects):
        return [{"type": "user_input", "content": items}]
    return [] if value is None else items


class AllowedTools(InteractionModel):
    mode: str = "auto"
    tools: list[str] = []


class ToolChoice(InteractionModel):
    allowed_tools: AllowedTools = AllowedTools()


class InteractionTool(BaseModel):
    """A tool. One of the provider's own has a type and settings, which are passed on as they came."""

    model_config = ConfigDict(extra="allow")

    type: str
    name: str = ""
    description: str = ""
    parameters: Any = None


class InteractionConfig(InteractionModel):
    thinking_level: str | None = None
    thinking_summaries: Literal["auto", "none"] = "none"
    max_output_tokens: int | None = None
    seed: int | None = None
    stop_sequences: list[str] | None = None
    tool_choice: str | ToolChoice | None = None
    temperature: float | None = None
    top_p: float | None = None
    image_config: Any = None
    speech_config: Any = None
    video_config: Any = None
    transcription_config: Any = None


class InteractionFormat(InteractionModel):
    type: str = "text"
    mime_type: str | None = None
    json_schema: JsonObject | None = Field(None, alias="schema")


class InteractionRequest(InteractionModel):
    model: str = ""
    agent: str = ""
    input: Annotated[list[InteractionStep], BeforeValidator(_as_steps)] = []
    system_instruction: str | None = None
    tools: list[InteractionTool] = []
    generation_config: InteractionConfig = InteractionConfig()
    response_format: Repeated[InteractionFormat] = []
    response_mime_type: str | None = None
    response_modalities: list[str] | None = None
    previous_interaction_id: str = ""
    continuation_token: str = ""
    store: bool = True
    stream: bool = False
    background: bool = False
    service_tier: str = "standard"
    safety_settings: list[JsonObject] = []
    labels: JsonObject | None = None
    cached_content: str | None = None
    agent_config: Any = None
    environment: Any = None
    webhook_config: Any = None


def parse_interaction(body: bytes) -> InteractionRequest:
    """Raises ApiError for a body that is no request, and for what no emulated model does."""
    value = read_object(body)
    try:
        request = InteractionRequest.model_validate(value)
    except ValidationError as error:
        raise _field_error(error, value) from None
    _check(request)
    return request


def _field_error(error: ValidationError, value: JsonObject) -> InteractionError:
    first = error.errors(include_url=False)[0]
    location = first["loc"]
    if first["type"] == "extra_forbidden":
        return unknown_parameter(str(location[-1]), field_path(location[:-1], value))
    return refused(f"Invalid value at '{field_path(location, value)}': {first['msg']}.")


def _check(request: InteractionRequest) -> None:
    if bool(request.model) == bool(request.agent):
        raise refused("Exactly one of 'model' and 'agent' must be set.")
    for name in _NOT_HERE:
        if getattr(request, name) is not None:
            raise unimplemented(f"'{name}'")
    if request.cached_content:
        raise refused("Explicit caches are not supported by the Interactions API.")
    if request.background and not request.store:
        raise refused("'background' requires 'store'.")
    if not request.input and not request.continuation_token:
        raise refused("'input' must be set.")
    for position, step in enumerate(request.input):
        _check_step(step, f"input[{position}]")


def _check_step(step: InteractionStep, where: str) -> None:
    if not step.is_known:
        raise refused(f"Invalid value at '{where}.type': unknown step type '{step.type}'.")
    if step.missing:
        raise refused(f"Missing required field '{where}.{step.missing}'.")
    if step.type == "function_result" and isinstance(step.result, list):
        _check_result(step.result, f"{where}.result")


def _check_result(contents: list[Any], where: str) -> None:
    for position, content in enumerate(contents):
        try:
            StepContent.model_validate(content)
        except ValidationError as error:
            message = error.errors(include_url=False)[0]["msg"]
            raise refused(f"Invalid value at '{where}[{position}]': {message}.") from None
