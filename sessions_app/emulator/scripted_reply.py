"""The input of a scenario, the reply it returns, and what generationConfig makes of that reply."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import orjson

from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.framing import NO_FAULT, StreamFault
from sessions_app.emulator.gemini_requests import Content, FunctionResponse, GenerationOptions, turn_start
from sessions_app.emulator.sample_content import sample
from sessions_app.emulator.tool_declarations import FunctionDeclaration
from sessions_app.emulator.usage import estimate_tokens
from sessions_app.emulator.wire_model import JsonObject

_LONGEST_TEXT = 20_000
_ENUM_TYPE = "text/x.enum"
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One function call the model makes."""

    name: str
    args: JsonObject


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool of the provider's own, with the thought that leads to it: `queries` of a search,
    `urls` of pages, or `code` with its `output`."""

    tool: str
    thought: str
    queries: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    code: str = ""
    output: str = ""
    is_failure: bool = False


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """One finished step of the current turn: the calls and the responses that came back."""

    calls: tuple[ScriptedCall, ...]
    answers: tuple[FunctionResponse, ...]


@dataclass(frozen=True, slots=True)
class ScenarioContext:
    """The request as a scenario sees it.

    `text` is the newest user text, `rounds` the tool rounds since, `functions` what may be called
    under `mode`, `declares` whether any function was declared at all, `provider_tools` which of the
    provider's own tools were. `tokens` counts the prompt,
    `cached` what of it was cached, in `cache_name` or implicitly. `resumed_at` is the number of
    characters that earlier responses of a continued answer have sent, None without a token. `now` is the
    emulator's clock.
    """

    model: Model
    text: str
    rounds: tuple[PlayedRound, ...]
    functions: Mapping[str, FunctionDeclaration]
    contents: tuple[Content, ...]
    shows_thoughts: bool = False
    tokens: int = 0
    cached: int = 0
    cache_name: str = ""
    mode: str = "AUTO"
    declares: bool = False
    resumed_at: int | None = None
    now: datetime = _EPOCH
    provider_tools: frozenset[str] = frozenset()

    @property
    def last(self) -> PlayedRound | None:
        return self.rounds[-1] if self.rounds else None


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What the model says, before it is laid out in chunks.

    `unseen_thoughts` are tokens of thoughts that are counted and signed but never shown.
    `finish` "" ends the stream without a finishReason; `token` lets a CONTINUATION go on.
    `signed` is False where the model had nothing to sign, `has_parts` where the last chunk holds
    none. `pieces` is the number of chunks of the text, 0 for the model's own size; `slow` delays
    each, `partial` streams arguments in pieces, `candidates` is how often the reply is repeated.
    `extra_parts` stand before the text, and so does what `tool_uses` leave there. `served` is the model
    that answers in place of the asked one. `fault` is what happens to the bytes. An `error` is answered
    instead of everything else.
    """

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    thoughts: tuple[str, ...] = ()
    unseen_thoughts: int = 0
    finish: str = "STOP"
    finish_message: str = ""
    block_reason: str = ""
    has_content: bool = True
    has_parts: bool = True
    signed: bool = True
    pieces: int = 0
    slow: bool = False
    partial: bool = False
    candidates: int = 1
    token: bytes = b""
    extra_parts: tuple[JsonObject, ...] = ()
    tool_uses: tuple[ToolUse, ...] = ()
    served: str = ""
    fault: StreamFault = NO_FAULT
    error: ApiError | None = None

    @property
    def has_thought(self) -> bool:
        return bool(self.thoughts or self.unseen_thoughts)

    @property
    def thought_tokens(self) -> int:
        return sum(map(estimate_tokens, self.thoughts)) + self.unseen_thoughts

    @property
    def call_tokens(self) -> list[int]:
        return [estimate_tokens(orjson.dumps([call.name, call.args])) for call in self.calls]

    @property
    def step(self) -> str:
        """What a signature is bound to: the first function called, or "text"."""
        return self.calls[0].name if self.calls else "text"


def apply_calling_mode(context: ScenarioContext, reply: ScriptedReply) -> ScriptedReply:
    """In mode ANY a reply without calls becomes a call of the first allowed function, then of the next:
    agents that end with a function of their own demand calls until it is called.
    """
    if context.mode != "ANY" or reply.calls or not context.functions:
        return reply
    called = Counter(call.name for played in context.rounds for call in played.calls)
    name, function = min(context.functions.items(), key=lambda one: called[one[0]])
    args = sample(function.argument_schema)
    thought = f"**Calling a function**\n\nThe request demands a call, and it is the turn of `{name}`."
    call = ScriptedCall(name, args if isinstance(args, dict) else {})
    return ScriptedReply(calls=(call,), thoughts=(thought,))


def apply_response_format(reply: ScriptedReply, config: GenerationOptions) -> ScriptedReply:
    """The text as `responseMimeType` and a schema want it."""
    kind = config.response_mime_type
    if reply.calls or kind not in {"application/json", _ENUM_TYPE}:
        return reply
    schema = config.response_json_schema or (config.response_schema and config.response_schema.as_json())
    value = sample(schema) if schema else {"answer": reply.text}
    text = str(value) if kind == _ENUM_TYPE else json.dumps(value, ensure_ascii=False, indent=2)
    return replace(reply, text=text)


def apply_stop_sequences(reply: ScriptedReply, config: GenerationOptions) -> ScriptedReply:
    """The text up to the first stop sequence, which is not part of it."""
    found = [reply.text.find(stop) for stop in config.stop_sequences or () if stop]
    ends = [end for end in found if end >= 0]
    return replace(reply, text=reply.text[: min(ends)]) if ends else reply


def apply_token_limit(reply: ScriptedReply, limit: int | None) -> ScriptedReply:
    """The reply within `limit` output tokens, thoughts first; one that is cut ends with MAX_TOKENS.

    A call comes whole or not at all: then the answer has no parts (langchainrb#1023), as where thoughts used
    up the limit (a recording of 2.5 Pro).
    """
    left = limit - reply.thought_tokens if limit else 0
    if not limit or estimate_tokens(reply.text) + sum(reply.call_tokens) <= left:
        return reply
    if left > 0 and not reply.calls:
        text = reply.text.encode()[: 33 * left // 10].decode(errors="ignore")
        return replace(reply, text=text, finish="MAX_TOKENS")
    return replace(
        reply,
        text="",
        calls=(),
        thoughts=(),
        unseen_thoughts=min(reply.thought_tokens, max(1, limit - 1)),
        finish="MAX_TOKENS",
        has_parts=False,
        signed=False,
    )


def newest_user_text(contents: Sequence[Content]) -> str:
    """The last text part of the content that opened the current turn.

    Cut at 20,000 characters: a longer text is no cue, and the patterns would take long.
    """
    if not contents:
        return ""
    texts = [part.text for part in contents[turn_start(contents)].parts if part.text]
    return texts[-1][:_LONGEST_TEXT].strip() if texts else ""


def tool_rounds(contents: Sequence[Content]) -> tuple[PlayedRound, ...]:
    """The answered tool rounds of the current turn, oldest first."""
    return tuple(
        PlayedRound(_calls(asked), tuple(answered.answers))
        for asked, answered in pairwise(contents[turn_start(contents) :])
        if asked.calls and answered.answers
    )


def _calls(content: Content) -> tuple[ScriptedCall, ...]:
    calls = (part.function_call for part in content.parts)
    return tuple(ScriptedCall(call.name, call.args or {}) for call in calls if call)
