"""From a generate request to its response: checks, token counts, scenario, faults."""

import base64
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, Self

from sessions_app.emulator import api_errors
from sessions_app.emulator.answer_form import NEWEST, AnswerForm, FormTable
from sessions_app.emulator.cache_store import CachedContent, CacheStore
from sessions_app.emulator.catalogue import MODELS, Model
from sessions_app.emulator.continuation import characters_sent
from sessions_app.emulator.decisions import Decision, PrefixMatch, Rule
from sessions_app.emulator.faults import FaultPlan, RequestFaults
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.http import ApiRequest
from sessions_app.emulator.prefix_cache import PrefixCache, chain_of
from sessions_app.emulator.replay import RecordedResponse, Recordings
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
from sessions_app.emulator.signer import Signer, check_signatures, restored_thoughts, signable
from sessions_app.emulator.tool_declarations import FunctionDeclaration, ToolConfig
from sessions_app.emulator.tool_use_layout import with_tool_uses
from sessions_app.emulator.usage import TokenCounts, count_tokens, framing_tokens, scaled
from sessions_app.emulator.validation import check_request
from sessions_app.emulator.wire_model import JsonObject

_MISCOUNT = 8.0
"""Percent by which a count differs from ours at most, where the command names no figure."""


class ModelResponse(Protocol):
    """A ScriptedResponse or a RecordedResponse. The script holds its pace, its fault and its error."""

    @property
    def script(self) -> ScriptedReply: ...
    def with_script(self, script: ScriptedReply) -> Self: ...
    def stream(self) -> list[JsonObject]: ...
    def full_response(self) -> JsonObject: ...


class Generator:
    """Answers generate requests. Remembers prefixes and how many it answered."""

    def __init__(
        self,
        caches: CacheStore,
        secret: bytes,
        play: Callable[[ScenarioContext], ScriptedReply] = play,
        faults: FaultPlan | None = None,
        recordings: Recordings | None = None,
        *,
        forms: FormTable = NEWEST,
    ) -> None:
        self._caches = caches
        self._forms = forms
        self._play = play
        self._faults = faults or FaultPlan()
        self._recordings = recordings or Recordings()
        self._signer = Signer(secret, self._recordings.signatures)
        self._prefixes = PrefixCache()
        self._responses = 0

    def reply(
        self,
        body: GenerateRequest,
        model: Model,
        request: ApiRequest,
        decision: Decision,
        *,
        streams: bool = True,
    ) -> ModelResponse:
        """Raises ApiError for whatever the API would not answer. `decision` is told why."""
        faults = self.faults_of(body, request, decision, "generateContent")
        self._lose_cache(body, faults)
        scope, chain = f"{request.key}\0{model.version}", chain_of(body.all_contents, body.tools)
        decision.caches = self._caches.findings(body.cached_content or "", chain, request.key, model)
        cache = self.cache_of(body, request.key, model)
        conversation = self._caches.conversation(body, request.key)
        check_request(body, model, conversation)
        check_signatures(conversation, model, self._signer)
        if request_counts(body, cache).total() > model.input_limit:
            raise api_errors.too_long(model.input_limit)
        decision.prefix = None if cache else self._prefixes.match(scope, chain, model.implicit_minimum)
        decision.rule = rule_of(decision.prefix, faults)
        usage = self._usage(body, model, cache, faults, decision)
        context = replace(_context(body, model, usage, cache), now=self._caches.clock())
        response = self._response(context, body, usage, request, faults, streams=streams)
        if isinstance(response, ScriptedResponse):
            shown = shows_invocations(body, cache)
            response = with_tool_uses(response, shows_invocations=shown)
        if isinstance(response, RecordedResponse):
            decision.rule = Rule.RECORDED
        if response.script.error:
            raise response.script.error
        if not cache:
            self._prefixes.remember(scope, chain)
        return response

    def _response(
        self,
        context: ScenarioContext,
        body: GenerateRequest,
        usage: TokenCounts,
        request: ApiRequest,
        faults: RequestFaults,
        *,
        streams: bool,
    ) -> ModelResponse:
        if recorded := self._recordings.find(context, streams=streams):
            return recorded.with_script(faults.apply(context, recorded.script, is_recorded=True))
        script = self._script(context, body, faults)
        response_id = "" if script.error else self._response_id(request)
        served = MODELS.get(script.served, context.model)
        shows_thoughts = context.shows_thoughts
        return ScriptedResponse(script, served, usage, self._signer, response_id, shows_thoughts, self._forms)

    def faults_of(
        self, body: GenerateRequest, request: ApiRequest, decision: Decision, method: str
    ) -> RequestFaults:
        """Raises ApiError (400) for an unknown word in the header."""
        told = self._caches.conversation(body, request.key)
        text, rounds = newest_user_text(told), tool_rounds(told)
        return self._faults.of(request, text, decision.faults, method=method, after_tools=bool(rounds))

    def _lose_cache(self, body: GenerateRequest, faults: RequestFaults) -> None:
        name = body.cached_content
        if name and self._caches.is_live(name) and faults.strikes("vanish"):
            self._caches.vanish(name)

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
        self,
        body: GenerateRequest,
        model: Model,
        cache: CachedContent | None,
        faults: RequestFaults,
        decision: Decision,
    ) -> TokenCounts:
        factor = miscount(faults)
        prompt, cached = request_counts(body, cache, factor), cache.counts if cache else Counter[str]()
        if decision.rule is Rule.IMPLICIT_HIT and decision.prefix:
            cached = scaled(Counter({"TEXT": decision.prefix.tokens}), factor)
        decision.cached = cached.total()
        form = self._forms.of(model.version)
        past_turns = form.restores_past_turns
        restored = restored_thoughts(body.contents, model, self._signer, past_turns=past_turns)
        return TokenCounts(
            prompt,
            cached,
            restored if form.restores_thoughts else 0,
            has_tier=self._forms.holds(self._forms.tier_from),
            framing=framing_tokens(body.all_contents) if self._forms.holds(form.turn_token_from) else 0,
        )

    def _script(
        self, context: ScenarioContext, body: GenerateRequest, faults: RequestFaults
    ) -> ScriptedReply:
        """Commands in the text apply first, then faults; the token limit cuts what they leave."""
        config = body.generation_config
        script = apply_response_format(apply_calling_mode(context, self._play(context)), config)
        script = apply_stop_sequences(script, config)
        script = faults.apply(context, script)
        if not config.thinking_config.is_on(unasked=context.model.thinks_unasked):
            script = replace(script, thoughts=(), unseen_thoughts=0)
        script = apply_token_limit(script, config.max_output_tokens)
        streams_arguments = body.tool_config is not None and body.tool_config.streams_arguments
        return replace(
            script,
            signed=script.signed and _is_signed(script, context, self._forms.of(context.model.version)),
            partial=script.partial or streams_arguments,
            candidates=config.candidate_count or 1,
        )

    def _response_id(self, request: ApiRequest) -> str:
        """23 URL-safe characters; a repeated request gets another id, a repeated sequence the same ones."""
        self._responses += 1
        digest = hashlib.sha256(f"{self._responses} {request.path}\n".encode() + request.body).digest()
        return base64.urlsafe_b64encode(digest[:17]).decode().rstrip("=")


def rule_of(match: PrefixMatch | None, faults: RequestFaults) -> Rule:
    """Hit or miss. A request that names a cache has no match: it is neither looked up nor remembered."""
    if match is None:
        return Rule.EXPLICIT_HIT
    withheld = match.rule is Rule.IMPLICIT_HIT and faults.strikes("miss")
    return Rule.HIT_WITHHELD if withheld else match.rule


def miscount(faults: RequestFaults) -> float:
    """The count that is reported, divided by ours."""
    return 1 + faults.balance("miscount", _MISCOUNT) / 100


def request_counts(body: GenerateRequest, cache: CachedContent | None, factor: float = 1.0) -> Counter[str]:
    """Prompt tokens by modality, the cache's included, whose count was settled when it was created."""
    counts = scaled(count_tokens(body.all_contents, body.tools), factor)
    return (cache.counts if cache else Counter()) + counts


def shows_invocations(body: GenerateRequest, cache: CachedContent | None) -> bool:
    """Whether the use of the provider's own tools is asked for as parts."""
    config = cache.tool_config if cache else body.tool_config
    return config is not None and config.include_server_side_tool_invocations


def _context(
    body: GenerateRequest, model: Model, usage: TokenCounts, cache: CachedContent | None
) -> ScenarioContext:
    tools = cache.tools if cache else body.tools
    conversation = (*(cache.contents if cache else ()), *body.contents)
    declared = {function.name: function for tool in tools for function in tool.function_declarations}
    config = (cache.tool_config if cache else body.tool_config) or ToolConfig()
    return ScenarioContext(
        model=model,
        text=newest_user_text(conversation),
        rounds=tool_rounds(conversation),
        functions=_callable(declared, config),
        contents=tuple(body.contents),
        mode=config.mode,
        declares=bool(declared),
        provider_tools=frozenset(name for tool in tools for name in tool.provider_tools),
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


def _is_signed(script: ScriptedReply, context: ScenarioContext, form: AnswerForm) -> bool:
    kind = signable(
        calls=bool(script.calls),
        thought=script.has_thought,
        after_tools=context.last is not None,
        declares_functions=context.declares,
    )
    return kind in form.signed
