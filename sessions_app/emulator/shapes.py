"""Requests as pydantic reads them; `spelling` says what counts as the same field."""

from typing import Any

from sessions_app.emulator.settings import GenerationConfig, Schema, ToolConfig
from sessions_app.emulator.spelling import Anything, Bytes, Many, Shape


class Blob(Shape):
    mime_type: str = ""
    data: Bytes = b""
    display_name: str | None = None


class FileData(Shape):
    mime_type: str = ""
    file_uri: str = ""
    display_name: str | None = None


def _media_type(media: Blob | FileData | None) -> str:
    return media.mime_type or "application/octet-stream" if media else ""


class FunctionCall(Shape):
    id: str | None = None
    name: str = ""
    args: Anything | None = None
    partial_args: list[Any] | None = None
    will_continue: bool | None = None


class FunctionResponsePart(Shape):
    """Media inside a function response (Gemini 3 and later)."""

    inline_data: Blob | None = None
    file_data: FileData | None = None

    @property
    def media_type(self) -> str:
        return _media_type(self.inline_data or self.file_data)


class FunctionResponse(Shape):
    id: str | None = None
    name: str = ""
    response: Anything | None = None
    parts: Many[FunctionResponsePart] = []
    scheduling: str | None = None
    will_continue: bool | None = None


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
        return _media_type(self.inline_data or self.file_data)

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
    parameters: Schema | None = None
    parameters_json_schema: Any = None
    response: Schema | None = None
    response_json_schema: Any = None
    behavior: str | None = None

    @property
    def argument_schema(self) -> Anything:
        """Of the arguments, in either spelling; empty when there are none."""
        found = self.parameters.plain() if self.parameters else self.parameters_json_schema
        return found if isinstance(found, dict) else {"type": "object"}

    @property
    def arguments(self) -> list[str]:
        """Argument names in declared order."""
        found = self.argument_schema
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


class Prompt(Shape):
    """What a generate request and a cached content have in common."""

    model: str = ""
    contents: Many[Content] = []
    system_instruction: Content | None = None
    tools: Many[Tool] = []
    tool_config: ToolConfig | None = None

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


class FileMetadata(Shape):
    name: str = ""
    display_name: str = ""
    mime_type: str = ""
    size_bytes: int | None = None


class UploadRequest(Shape):
    file: FileMetadata = FileMetadata()
