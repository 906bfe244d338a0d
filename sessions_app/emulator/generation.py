"""From a generate request to its response: checks, token counts, scenario, faults."""

import base64
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, Self

from sessions_app.emulator import api_errors
from sessions_app.emulator.cache_store import CachedContent, CacheStore, PrefixCache
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.gemini_requests import FunctionDeclaration, GenerateRequest, ToolConfig
from sessions_app.emulator.http import ApiRequest
from sessions_app.emulator.replay import Recordings
from sessions_app.emulator.responses import ScriptedResponse
from sessions_app.emulator.scenarios import play
from sessions_app.emulator.scripted_reply import (
    ScenarioContext,
    ScriptedReply,
    apply_calling_mode,
    apply_response_format,
    apply_stop_sequences,
    apply_token_limit,
    newest_user_text,
    tool_rounds,
)
from sessions_app.emulator.signer import Signer, check_signatures, restored_thoughts, signs_text
from sessions_app.emulator.slash_commands import (
    FAULT_HEADER,
    CommandUse,
    Fault,
    apply_commands,
    characters_sent,
    find_commands,
    parse_faults,
)
from sessions_app.emulator.usage import TokenCounts, count_tokens
from sessions_app.emulator.validation import check_request
from sessions_app.emulator.wire_model import JsonObject

_SPENT_KEPT = 1_000


class ModelResponse(Protocol):
    """A ScriptedResponse or a RecordedResponse. The script holds its pace, its fault and its error."""

    @property
    def script(self) -> ScriptedReply: ...
    def with_script(self, script: ScriptedReply) -> Self: ...
    def stream(self) -> list[JsonObject]: ...
    def full_response(self) -> JsonObject: ...


class Generator:
    """Answers generate requests. Remembers prefixes, spent commands and how many it answered."""

    def __init__(
        self,
        caches: CacheStore,
        secret: bytes,
        play: Callable[[ScenarioContext], ScriptedReply] = play,
        faults: Sequence[Fault] = (),
        recordings: Recordings | None = None,
    ) -> None:
        self._caches = caches
        self._play = play
        self._faults = faults
        self._recordings = recordings or Recordings()
        self._signer = Signer(secret, self._recordings.signatures)
        self._prefixes = PrefixCache()
        self._spent: OrderedDict[str, None] = OrderedDict()
        self._requests = self._responses = 0

    def reply(
        self, body: GenerateRequest, model: Model, request: ApiRequest, *, streams: bool = True
    ) -> ModelResponse:
        """Raises ApiError for whatever the API would not answer."""
        self._requests += 1
        cache = self.cache_of(body, request.key, model)
        check_request(body, model)
        check_signatures(body.contents, model, self._signer)
        usage = self._usage(body, model, request.key, cache)
        context = _context(body, model, usage, cache)
        response: ModelResponse
        if recorded := self._recordings.find(context, streams=streams):
            faults = self._faults_of(request)
            response = recorded.with_script(apply_commands(context, recorded.script, faults))
        else:
            script = self._script(context, body, request)
            response_id = "" if script.error else self._response_id(request)
            shows_thoughts = context.shows_thoughts
            response = ScriptedResponse(script, model, usage, self._signer, response_id, shows_thoughts)
        if response.script.error:
            raise response.script.error
        return response

    def cache_of(self, body: GenerateRequest, key: str, model: Model | None = None) -> CachedContent | None:
        """The explicit cache a request names. Raises ApiError: 403 when gone, 400 when it does not fit."""
        if not body.cached_content:
            return None
        cache = self._caches.find(body.cached_content, key)
        if body.system_instruction or body.tools or body.tool_config:
            raise api_errors.cache_beside_fields()
        if model and model.name != cache.model:
            raise api_errors.cache_of_other_model(model.name, cache.model)
        return cache

    def _usage(
        self, body: GenerateRequest, model: Model, key: str, cache: CachedContent | None
    ) -> TokenCounts:
        prompt, cached = request_counts(body, cache), cache.counts if cache else Counter[str]()
        if prompt.total() > model.input_limit:
            raise api_errors.too_long(model.input_limit)
        if cache is None:
            scope = f"{key}\0{model.name}"
            hit = self._prefixes.match(scope, body.all_contents, body.tools, model.implicit_minimum)
            cached = Counter({"TEXT": hit})
        return TokenCounts(prompt, cached, restored_thoughts(body.contents, model, self._signer))

    def _script(self, context: ScenarioContext, body: GenerateRequest, request: ApiRequest) -> ScriptedReply:
        """Commands in the text apply first, then faults; the token limit cuts what they leave."""
        config = body.generation_config
        script = apply_response_format(apply_calling_mode(context, self._play(context)), config)
        script = apply_stop_sequences(script, config)
        commands = find_commands(context.text)
        due = tuple(
            use
            for use in commands
            if (context.last is not None or not use.later)
            and self._is_due(use, f"{request.key}\0{context.text}")
        )
        script = apply_commands(context, script, due + self._faults_of(request))
        if not config.thinking_config.is_on:
            script = replace(script, thoughts=(), unseen_thoughts=0)
        script = apply_token_limit(script, config.max_output_tokens)
        streams_arguments = body.tool_config is not None and body.tool_config.streams_arguments
        return replace(
            script,
            signed=script.signed and (bool(script.calls) or _is_signed(script, context)),
            partial=script.partial or streams_arguments,
            candidates=config.candidate_count or 1,
        )

    def _faults_of(self, request: ApiRequest) -> tuple[CommandUse, ...]:
        """Faults of the command line and of the request's header that apply to this request."""
        faults = (*self._faults, *parse_faults(request.headers.get(FAULT_HEADER, "")))
        return tuple(fault.command for fault in faults if fault.applies_to(self._requests))

    def _is_due(self, use: CommandUse, text: str) -> bool:
        """False for a `once` command that an earlier request with the same text has spent."""
        if not use.once:
            return True
        spending = hashlib.sha256(f"{use.word}\0{text}".encode()).hexdigest()
        if spending in self._spent:
            return False
        self._spent[spending] = None
        if len(self._spent) > _SPENT_KEPT:
            self._spent.popitem(last=False)
        return True

    def _response_id(self, request: ApiRequest) -> str:
        """22 URL-safe characters; a repeated request gets another id, a repeated sequence the same ones."""
        self._responses += 1
        digest = hashlib.sha256(f"{self._responses} {request.path}\n".encode() + request.body).digest()
        return base64.urlsafe_b64encode(digest)[:22].decode()


def request_counts(body: GenerateRequest, cache: CachedContent | None) -> Counter[str]:
    """Prompt tokens by modality, the cache's included."""
    return (cache.counts if cache else Counter()) + count_tokens(body.all_contents, body.tools)


def _context(
    body: GenerateRequest, model: Model, usage: TokenCounts, cache: CachedContent | None
) -> ScenarioContext:
    tools = cache.tools if cache else body.tools
    declared = {function.name: function for tool in tools for function in tool.function_declarations}
    config = (cache.tool_config if cache else body.tool_config) or ToolConfig()
    return ScenarioContext(
        model=model,
        text=newest_user_text(body.contents),
        rounds=tool_rounds(body.contents),
        functions=_callable(declared, config),
        contents=tuple(body.contents),
        mode=config.mode,
        declares=bool(declared),
        resumed_at=characters_sent(body.continuation_token),
        shows_thoughts=body.generation_config.thinking_config.include_thoughts,
        tokens=usage.prompt.total(),
        cached=usage.cached.total(),
        cache_name=cache.name if cache else "",
    )


def _callable(declared: dict[str, FunctionDeclaration], config: ToolConfig) -> dict[str, FunctionDeclaration]:
    """The functions that the mode lets the model call."""
    if config.mode == "NONE":
        return {}
    allowed = config.function_calling_config.allowed_function_names or declared
    return {name: function for name, function in declared.items() if name in allowed}


def _is_signed(script: ScriptedReply, context: ScenarioContext) -> bool:
    return signs_text(
        context.model,
        thought=script.has_thought,
        after_tools=context.last is not None,
        declares_functions=context.declares,
    )
