"""Chat completion requests, and the Gemini requests they stand for.

System messages become the system instruction, tool messages in a row one content of function
responses, a tool call a functionCall. Signatures travel in `extra_content.google.thought_signature`,
of a tool call or of the message (seed 2, "Tanda tangan untuk kompatibilitas OpenAI"; gemini-wire §6).
Names are snake_case only; unknown ones are errors.
"""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict

from sessions_app.emulator.api_errors import invalid
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.wire_model import Base64Bytes, JsonObject, validate

_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,(.+)", re.S)
_INSTRUCTIONS = frozenset({"system", "developer"})
EFFORT_BUDGETS = {"none": 0, "minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


class ChatModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class GoogleExtra(ChatModel):
    thought_signature: Base64Bytes | None = None
    thought: bool | None = None


class ExtraContent(ChatModel):
    google: GoogleExtra = GoogleExtra()


class CalledFunction(ChatModel):
    name: str
    arguments: str = "{}"


class ChatToolCall(ChatModel):
    id: str = ""
    type: str = "function"
    index: int | None = None
    function: CalledFunction
    extra_content: ExtraContent = ExtraContent()


class MessagePart(ChatModel):
    type: str
    text: str = ""
    image_url: JsonObject = {}
    input_audio: JsonObject = {}
    file: JsonObject = {}


def _as_parts(value: object) -> object:
    """Text stands for one text part, null for none."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [] if value is None else value


class ChatMessage(ChatModel):
    """The role `model` is accepted for `assistant`, as seed 2 writes it."""

    role: Literal["system", "developer", "user", "assistant", "model", "tool"]
    content: Annotated[list[MessagePart], BeforeValidator(_as_parts)] = []
    name: str | None = None
    tool_calls: list[ChatToolCall] | None = None
    tool_call_id: str = ""
    extra_content: ExtraContent = ExtraContent()
    refusal: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.content)


class DeclaredFunction(ChatModel):
    name: str
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class DeclaredTool(ChatModel):
    type: str = "function"
    function: DeclaredFunction


class NamedFunction(ChatModel):
    name: str


class NamedTool(ChatModel):
    """The one tool that must be called."""

    type: str = "function"
    function: NamedFunction


class StreamOptions(ChatModel):
    include_usage: bool = False


class ResponseFormat(ChatModel):
    type: str = "text"
    json_schema: JsonObject = {}


class GoogleOptions(ChatModel):
    thinking_config: JsonObject = {}
    cached_content: str = ""
    safety_settings: list[Any] = []


class ExtraBody(ChatModel):
    google: GoogleOptions = GoogleOptions()


class ChatRequest(ChatModel):
    model: str
    messages: list[ChatMessage] = []
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


def to_generate_request(chat: ChatRequest, model: Model) -> GenerateRequest:
    """Raises ApiError (400) for arguments that are not JSON and for an invalid Gemini request."""
    messages = [message for message in chat.messages if message.role not in _INSTRUCTIONS]
    system = [{"text": message.text} for message in chat.messages if message.role in _INSTRUCTIONS]
    body: JsonObject = {
        "contents": list(_contents(messages)),
        "generationConfig": _config(chat) | {"thinkingConfig": _thinking(chat, model)},
        "cachedContent": chat.extra_body.google.cached_content,
    }
    if system:
        body["systemInstruction"] = {"parts": system}
    if chat.tools:
        body["tools"] = [{"functionDeclarations": _declarations(chat)}]
        body["toolConfig"] = {"functionCallingConfig": _calling(chat)}
    return validate(GenerateRequest, body)


def _contents(messages: list[ChatMessage]) -> Iterable[JsonObject]:
    # Some clients number the calls of each message anew: the newest call of an id is meant.
    names: dict[str, str] = {}
    for is_tool, run in groupby(messages, key=lambda message: message.role == "tool"):
        if is_tool:
            yield {"role": "user", "parts": [_answer(message, names) for message in run]}
            continue
        for message in run:
            names |= {call.id: call.function.name for call in message.tool_calls or ()}
            yield _content(message)


def _content(message: ChatMessage) -> JsonObject:
    if message.role == "user":
        return {"role": "user", "parts": [_part(part) for part in message.content]}
    parts: list[JsonObject] = [{"text": message.text}] if message.text else []
    parts += [_call(call) for call in message.tool_calls or ()]
    if signature := message.extra_content.google.thought_signature:
        parts = parts or [{"text": ""}]
        parts[0] |= {"thoughtSignature": signature}
    return {"role": "model", "parts": parts}


def _part(part: MessagePart) -> JsonObject:
    if part.type == "text":
        return {"text": part.text}
    if part.type == "input_audio":
        kind = f"audio/{part.input_audio.get('format', 'wav')}"
        return {"inlineData": {"mimeType": kind, "data": part.input_audio.get("data", "")}}
    url = str(part.image_url.get("url") or part.file.get("file_data") or "")
    if not (match := _DATA_URL.fullmatch(url)):
        raise invalid(f"Invalid content part type: {part.type}")
    return {"inlineData": {"mimeType": match[1], "data": match[2]}}


def _call(call: ChatToolCall) -> JsonObject:
    part: JsonObject = {
        "functionCall": {
            "id": call.id or None,
            "name": call.function.name,
            "args": _object(call.function.arguments or "{}"),
        }
    }
    signature = call.extra_content.google.thought_signature
    return part | ({"thoughtSignature": signature} if signature else {})


def _answer(message: ChatMessage, names: dict[str, str]) -> JsonObject:
    """A result that is no JSON object becomes one."""
    try:
        response = orjson.loads(message.text)
    except orjson.JSONDecodeError:
        response = message.text
    if not isinstance(response, dict):
        response = {"result": response}
    name = message.name or names.get(message.tool_call_id, "")
    return {"functionResponse": {"id": message.tool_call_id or None, "name": name, "response": response}}


def _object(text: str) -> JsonObject:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise invalid(f"Invalid function call arguments: {text}")
    return value


def _declarations(chat: ChatRequest) -> list[JsonObject]:
    return [
        {"name": tool.function.name, "description": tool.function.description or ""}
        | ({"parametersJsonSchema": tool.function.parameters} if tool.function.parameters else {})
        for tool in chat.tools
    ]


def _calling(chat: ChatRequest) -> JsonObject:
    choice = chat.tool_choice
    if choice is None or isinstance(choice, str):
        return {"mode": _MODES.get(choice or "auto", "AUTO")}
    return {"mode": "ANY", "allowedFunctionNames": [choice.function.name]}


def _config(chat: ChatRequest) -> JsonObject:
    form = chat.response_format
    return {
        "temperature": chat.temperature,
        "topP": chat.top_p,
        "maxOutputTokens": chat.max_completion_tokens or chat.max_tokens,
        "candidateCount": chat.n,
        "stopSequences": chat.stops,
        "seed": chat.seed,
        "responseMimeType": "application/json" if form.type != "text" else None,
        "responseJsonSchema": form.json_schema.get("schema"),
    }


def _thinking(chat: ChatRequest, model: Model) -> JsonObject:
    """An effort is a level since Gemini 3 and a budget before."""
    effort = chat.reasoning_effort or ""
    level: JsonObject = {"thinkingLevel": effort} if effort else {}
    if effort in EFFORT_BUDGETS and (effort == "none" or not model.levels):
        level = {"thinkingBudget": EFFORT_BUDGETS[effort]}
    return level | chat.extra_body.google.thinking_config
