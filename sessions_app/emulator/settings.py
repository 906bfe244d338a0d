"""What a request asks of the model: `generationConfig` and `toolConfig`."""

from typing import Any

from sessions_app.emulator.spelling import Anything, Shape


class Schema(Shape):
    """The subset of OpenAPI that the provider knows; whatever else stands in it is refused."""

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

    def plain(self) -> Anything:
        """As JSON, in camelCase and without what was not said."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


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


class FunctionCallingConfig(Shape):
    """`mode` is AUTO, ANY, NONE or VALIDATED, "" for AUTO."""

    mode: str = ""
    allowed_function_names: list[str] = []
    stream_function_call_arguments: bool = False


class ToolConfig(Shape):
    function_calling_config: FunctionCallingConfig = FunctionCallingConfig()
    retrieval_config: Anything | None = None
    include_server_side_tool_invocations: bool = False

    @property
    def mode(self) -> str:
        """One of AUTO, ANY, NONE and VALIDATED."""
        asked = self.function_calling_config.mode.upper()
        return asked if asked in _MODES else "AUTO"


_MODES = frozenset({"AUTO", "ANY", "NONE", "VALIDATED"})
