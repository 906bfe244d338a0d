"""Requests of the Gemini API as pydantic reads them, named as the API names them."""

from collections.abc import Sequence
from typing import Any

from sessions_app.emulator.wire_model import Base64Bytes, JsonObject, Repeated, WireModel

_PROVIDER_TOOLS = (
    *("google_search", "google_search_retrieval", "google_maps", "code_execution", "url_context"),
    *("file_search", "computer_use"),
)
_CALLING_MODES = frozenset({"AUTO", "ANY", "NONE", "VALIDATED"})


class InlineData(WireModel):
    mime_type: str = ""
    data: Base64Bytes = b""
    display_name: str | None = None


class FileUri(WireModel):
    mime_type: str = ""
    file_uri: str = ""
    display_name: str | None = None


def _media_type(media: InlineData | FileUri | None) -> str:
    return media.mime_type or "application/octet-stream" if media else ""


class RequestedCall(WireModel):
    id: str | None = None
    name: str = ""
    args: JsonObject | None = None
    partial_args: list[Any] | None = None
    will_continue: bool | None = None


class FunctionResponsePart(WireModel):
    """Media inside a function response (Gemini 3 and later)."""

    inline_data: InlineData | None = None
    file_data: FileUri | None = None

    @property
    def media_type(self) -> str:
        return _media_type(self.inline_data or self.file_data)


class FunctionResponse(WireModel):
    id: str | None = None
    name: str = ""
    response: JsonObject | None = None
    parts: Repeated[FunctionResponsePart] = []
    scheduling: str | None = None
    will_continue: bool | None = None


class Part(WireModel):
    text: str | None = None
    thought: bool | None = None
    thought_signature: Base64Bytes | None = None
    function_call: RequestedCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: InlineData | None = None
    file_data: FileUri | None = None
    executable_code: JsonObject | None = None
    code_execution_result: JsonObject | None = None
    tool_call: JsonObject | None = None
    tool_response: JsonObject | None = None
    video_metadata: JsonObject | None = None
    media_resolution: Any = None
    part_metadata: JsonObject | None = None
    part_of_next_year: JsonObject | None = None

    @property
    def media_type(self) -> str:
        return _media_type(self.inline_data or self.file_data)

    @property
    def kind(self) -> str:
        """Which of the oneof `data` is set; "" when none is."""
        if self.text is not None:
            return "thought" if self.thought else "text"
        return next((name for name in _DATA if getattr(self, name) is not None), "")


_DATA = (
    *("function_call", "function_response", "inline_data", "file_data"),
    *("executable_code", "code_execution_result", "tool_call", "tool_response"),
    "part_of_next_year",
)


class Content(WireModel):
    role: str = "user"
    parts: Repeated[Part] = []

    @property
    def calls(self) -> list[Part]:
        return [part for part in self.parts if part.function_call]

    @property
    def answers(self) -> list[FunctionResponse]:
        return [part.function_response for part in self.parts if part.function_response]


def turn_start(contents: Sequence[Content]) -> int:
    """Index of the newest user content with more than function responses; 0 when there is none."""
    for index in range(len(contents) - 1, -1, -1):
        content = contents[index]
        if content.role != "model" and any(not part.function_response for part in content.parts):
            return index
    return 0


class Schema(WireModel):
    """The subset of OpenAPI that the API accepts; other keywords are errors."""

    type: Any = None
    format: str | None = None
    title: str | None = None
    description: str | None = None
    nullable: bool | None = None
    enum: list[Any] | None = None
    items: "Schema | None" = None
    min_items: Any = None
    max_items: Any = None
    properties: dict[str, "Schema"] | None = None
    property_ordering: list[str] | None = None
    required: list[str] | None = None
    min_properties: Any = None
    max_properties: Any = None
    min_length: Any = None
    max_length: Any = None
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    example: Any = None
    default: Any = None
    any_of: list["Schema"] | None = None

    def as_json(self) -> JsonObject:
        """In camelCase and without unset fields."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class ThinkingConfig(WireModel):
    include_thoughts: bool = False
    thinking_level: str = ""
    thinking_budget: int | None = None

    @property
    def is_on(self) -> bool:
        return self.thinking_budget != 0 and self.thinking_level.lower() != "minimal"


class GenerationOptions(WireModel):
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
    response_schema: Schema | None = None
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


class SafetySetting(WireModel):
    """Names of enums, or their numbers."""

    category: str | int = ""
    threshold: str | int = ""


class FunctionCallingConfig(WireModel):
    """`mode` is AUTO, ANY, NONE or VALIDATED, "" for AUTO."""

    mode: str = ""
    allowed_function_names: list[str] = []
    stream_function_call_arguments: bool = False


class ToolConfig(WireModel):
    function_calling_config: FunctionCallingConfig = FunctionCallingConfig()
    retrieval_config: JsonObject | None = None
    include_server_side_tool_invocations: bool = False

    @property
    def streams_arguments(self) -> bool:
        return self.function_calling_config.stream_function_call_arguments

    @property
    def mode(self) -> str:
        """One of AUTO, ANY, NONE and VALIDATED."""
        mode = self.function_calling_config.mode.upper()
        return mode if mode in _CALLING_MODES else "AUTO"


class FunctionDeclaration(WireModel):
    name: str = ""
    description: str | None = None
    parameters: Schema | None = None
    parameters_json_schema: Any = None
    response: Schema | None = None
    response_json_schema: Any = None
    behavior: str | None = None

    @property
    def argument_schema(self) -> JsonObject:
        """Of the arguments, in either spelling; empty when there are none."""
        found = self.parameters.as_json() if self.parameters else self.parameters_json_schema
        return found if isinstance(found, dict) else {"type": "object"}

    @property
    def arguments(self) -> list[str]:
        """Argument names in declared order."""
        found = self.argument_schema
        named = found.get("propertyOrdering") or found.get("property_ordering") or found.get("properties")
        return [str(name) for name in named] if isinstance(named, list | dict) else []


class ToolDeclarations(WireModel):
    function_declarations: Repeated[FunctionDeclaration] = []
    google_search: JsonObject | None = None
    google_search_retrieval: JsonObject | None = None
    google_maps: JsonObject | None = None
    code_execution: JsonObject | None = None
    url_context: JsonObject | None = None
    file_search: JsonObject | None = None
    computer_use: JsonObject | None = None

    @property
    def provider_tools(self) -> tuple[str, ...]:
        """The provider's own tools that are declared."""
        return tuple(name for name in _PROVIDER_TOOLS if getattr(self, name) is not None)


class PromptFields(WireModel):
    """What a generate request and a cached content have in common."""

    model: str = ""
    contents: Repeated[Content] = []
    system_instruction: Content | None = None
    tools: Repeated[ToolDeclarations] = []
    tool_config: ToolConfig | None = None

    @property
    def all_contents(self) -> tuple[Content, ...]:
        """What is counted, the system instruction first."""
        return (*((self.system_instruction,) if self.system_instruction else ()), *self.contents)


class GenerateRequest(PromptFields):
    generation_config: GenerationOptions = GenerationOptions()
    safety_settings: Repeated[SafetySetting] = []
    cached_content: str = ""
    labels: JsonObject | None = None
    service_tier: str | None = None
    store: bool | None = None
    continuation_token: Base64Bytes | None = None


class CountRequest(WireModel):
    contents: Repeated[Content] = []
    generate_content_request: GenerateRequest | None = None
