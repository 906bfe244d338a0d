"""Requests of the Gemini API as pydantic reads them, named as the API names them."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import model_validator
from pydantic.alias_generators import to_snake

from sessions_app.emulator.tool_declarations import Schema, ToolConfig, ToolDeclarations
from sessions_app.emulator.wire_enums import HarmBlockThreshold, HarmCategory, Modality, ThinkingLevel
from sessions_app.emulator.wire_model import Base64Bytes, Int32, JsonObject, Repeated, WireModel, message
from sessions_app.emulator.wire_violations import wrong_value


class InlineData(WireModel):
    wire_name: ClassVar[str] = "Blob"

    mime_type: str = ""
    data: Base64Bytes = b""
    display_name: str | None = None


class FileUri(WireModel):
    wire_name: ClassVar[str] = "FileData"

    mime_type: str = ""
    file_uri: str = ""
    display_name: str | None = None


def _media_type(media: InlineData | FileUri | None) -> str:
    return media.mime_type or "application/octet-stream" if media else ""


class RequestedCall(WireModel):
    wire_name: ClassVar[str] = "FunctionCall"

    id: str | None = None
    name: str = ""
    args: JsonObject | None = None
    partial_args: Repeated[Any] | None = None
    will_continue: bool | None = None


class MediaPart(WireModel):
    """Media, and what google-genai 3.4 says of them to the Developer API (`_Part_to_mldev`), which changes
    nothing here."""

    inline_data: InlineData | None = None
    file_data: FileUri | None = None
    media_resolution: Any = None
    media_processing: Any = None
    video_metadata: Annotated[JsonObject, message("VideoMetadata")] | None = None
    document_metadata: Annotated[JsonObject, message("DocumentMetadata")] | None = None
    spreadsheet_metadata: Annotated[JsonObject, message("SpreadsheetMetadata")] | None = None
    audio_metadata: Annotated[JsonObject, message("AudioMetadata")] | None = None

    @property
    def media_type(self) -> str:
        return _media_type(self.inline_data or self.file_data)


class FunctionResponsePart(MediaPart):
    """Media inside a function response (Gemini 3 and later)."""


class FunctionResponse(WireModel):
    id: str | None = None
    name: str = ""
    response: JsonObject | None = None
    parts: Repeated[FunctionResponsePart] = []
    scheduling: str | None = None
    will_continue: bool | None = None


class Part(MediaPart):
    text: str | None = None
    thought: bool | None = None
    thought_signature: Base64Bytes | None = None
    function_call: RequestedCall | None = None
    function_response: FunctionResponse | None = None
    executable_code: Annotated[JsonObject, message("ExecutableCode")] | None = None
    code_execution_result: Annotated[JsonObject, message("CodeExecutionResult")] | None = None
    tool_call: Annotated[JsonObject, message("ToolCall")] | None = None
    tool_response: Annotated[JsonObject, message("ToolResponse")] | None = None
    part_metadata: JsonObject | None = None
    audio_transcription: Annotated[JsonObject, message("Transcription")] | None = None
    speech_metadata: Annotated[JsonObject, message("SpeechMetadata")] | None = None
    part_of_next_year: JsonObject | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_one_kind(cls, value: object) -> object:
        """Text beside a call is quoted of clients that merge what a stream brought."""
        given = value.items() if isinstance(value, dict) else ()
        names = [name for name, item in given if item is not None and to_snake(name) in ("text", *_DATA)]
        if len(names) > 1:
            raise wrong_value("oneof", f"oneof field 'data' is already set. Cannot set '{names[1]}'")
        return value

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


class ThinkingConfig(WireModel):
    include_thoughts: bool = False
    thinking_level: ThinkingLevel = ""
    thinking_budget: Int32 | None = None

    def is_on(self, *, unasked: bool) -> bool:
        """Whether a model thinks that does so `unasked`, or only within a budget."""
        is_asked = unasked or self.thinking_budget is not None
        return is_asked and self.thinking_budget != 0 and self.thinking_level != "MINIMAL"


class GenerationOptions(WireModel):
    wire_name: ClassVar[str] = "GenerationConfig"

    thinking_config: ThinkingConfig = ThinkingConfig()
    max_output_tokens: Int32 | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: Int32 | None = None
    candidate_count: Int32 | None = None
    stop_sequences: Repeated[str] | None = None
    seed: Int32 | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_mime_type: str | None = None
    response_schema: Schema | None = None
    response_json_schema: Any = None
    response_format: Any = None
    response_modalities: Repeated[Modality] = []
    response_logprobs: bool | None = None
    logprobs: Int32 | None = None
    media_resolution: Any = None
    speech_config: Any = None
    image_config: Any = None
    audio_transcription_config: Any = None
    audio_timestamp: bool | None = None
    enable_enhanced_civic_answers: bool | None = None


class SafetySetting(WireModel):
    category: HarmCategory = ""
    threshold: HarmBlockThreshold = ""


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
    wire_name: ClassVar[str] = "GenerateContentRequest"

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
