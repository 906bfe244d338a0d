"""Chat completion requests as pydantic reads them. Names are snake_case only; unknown ones are refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from sessions_app.emulator.spelling import Anything, Bytes


class ChatShape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Google(ChatShape):
    thought_signature: Bytes | None = None
    thought: bool | None = None


class ExtraContent(ChatShape):
    google: Google = Google()


class CalledFunction(ChatShape):
    name: str
    arguments: str = "{}"


class ToolCall(ChatShape):
    id: str = ""
    type: str = "function"
    index: int | None = None
    function: CalledFunction
    extra_content: ExtraContent = ExtraContent()


class MessagePart(ChatShape):
    type: str
    text: str = ""
    image_url: Anything = {}
    input_audio: Anything = {}
    file: Anything = {}


def _as_parts(value: object) -> object:
    """Text stands for one text part, null for none."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [] if value is None else value


class Message(ChatShape):
    """`model` is taken for `assistant`, as the seed writes it."""

    role: Literal["system", "developer", "user", "assistant", "model", "tool"]
    content: Annotated[list[MessagePart], BeforeValidator(_as_parts)] = []
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str = ""
    extra_content: ExtraContent = ExtraContent()
    refusal: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content)


class DeclaredFunction(ChatShape):
    name: str
    description: str | None = None
    parameters: Anything | None = None
    strict: bool | None = None


class DeclaredTool(ChatShape):
    type: str = "function"
    function: DeclaredFunction


class NamedFunction(ChatShape):
    name: str


class NamedTool(ChatShape):
    """The one tool that must be called."""

    type: str = "function"
    function: NamedFunction


class StreamOptions(ChatShape):
    include_usage: bool = False


class ResponseFormat(ChatShape):
    type: str = "text"
    json_schema: Anything = {}


class GoogleOptions(ChatShape):
    thinking_config: Anything = {}
    cached_content: str = ""
    safety_settings: list[Any] = []


class ExtraBody(ChatShape):
    google: GoogleOptions = GoogleOptions()


class ChatRequest(ChatShape):
    model: str
    messages: list[Message] = []
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: list[DeclaredTool] = []
    tool_choice: str | NamedTool | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_format: ResponseFormat = ResponseFormat()
    reasoning_effort: str | None = None
    extra_body: ExtraBody = ExtraBody()
    parallel_tool_calls: bool | None = None
    user: str | None = None
    modalities: list[str] | None = None

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    @property
    def stops(self) -> list[str] | None:
        return [self.stop] if isinstance(self.stop, str) else self.stop
