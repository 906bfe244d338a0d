"""The Interactions API: create, get, cancel and delete, over the same generator as generateContent.

A request becomes a native one (`interactions_prompt`) and the native answer becomes steps
(`interactions_steps`): scenarios, signatures, token counts, implicit caches and faults are those of
generateContent. Forms: the types of the google-genai client, Google's documentation, and recorded
streams of 2026.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import wraps

import orjson

from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.catalogue import Model, find_model
from sessions_app.emulator.file_store import FileStore
from sessions_app.emulator.framing import EVENT_TYPE, JSON_TYPE
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.generation import Generator
from sessions_app.emulator.http import ApiResponse, Body, RouteMatch
from sessions_app.emulator.interactions_errors import (
    InteractionError,
    as_interaction_error,
    refused,
    unknown_model,
)
from sessions_app.emulator.interactions_events import apply_fault, created_events, replayed_events
from sessions_app.emulator.interactions_prompt import to_generate_request
from sessions_app.emulator.interactions_requests import InteractionRequest, parse_interaction
from sessions_app.emulator.interactions_steps import InteractionAnswer, read_answer
from sessions_app.emulator.interactions_store import InteractionStore, StoredInteraction
from sessions_app.emulator.resource_store import Clock
from sessions_app.emulator.scripted_reply import ScriptedReply
from sessions_app.emulator.wire_model import JsonObject

_FIRST_RETRYABLE = 429

Send = Callable[[RouteMatch, ScriptedReply, list[bytes], str], ApiResponse]
Handler = Callable[["InteractionsApi", RouteMatch], ApiResponse]


def _typed_errors(handle: Handler) -> Handler:
    """Answers errors in the form of this API."""

    @wraps(handle)
    def handled(api: "InteractionsApi", route: RouteMatch) -> ApiResponse:
        try:
            return handle(api, route)
        except ApiError as error:
            found = as_interaction_error(error)
            route.entry.decision.rule = found.rule
            return _json(route, found.payload(), found.code, found.headers)

    return handled


@dataclass(frozen=True, slots=True)
class _Turn:
    """A request, its model, and the interaction that it goes on from."""

    request: InteractionRequest
    model: Model
    previous: StoredInteraction | None


class InteractionsApi:
    """`send` streams pieces at the pace and with the fault of a script; `delay_of` is seconds before
    each of them."""

    def __init__(
        self,
        generator: Generator,
        files: FileStore,
        clock: Clock,
        send: Send,
        delay_of: Callable[[ScriptedReply], float],
    ) -> None:
        self.store = InteractionStore(clock)
        self._generator = generator
        self._files = files
        self._clock = clock
        self._send = send
        self._delay_of = delay_of

    @_typed_errors
    def create(self, route: RouteMatch) -> ApiResponse:
        request = parse_interaction(route.request.body)
        turn = _Turn(request, _model(request), self._previous(request, route.request.key))
        body = self._native(turn)
        self._files.check_references(body.contents, route.request.key)
        script, answer = self._answer(turn, body, route)
        interaction = self._interaction(turn, body, answer, route.request.key)
        seconds = self._delay_of(script) * len(created_events(interaction))
        if request.background:
            interaction = replace(interaction, due=interaction.created + timedelta(seconds=seconds))
        if request.store:
            self.store.keep(interaction)
        if request.stream:
            pieces, fault = apply_fault(created_events(interaction), script.fault)
            return self._send(route, replace(script, fault=fault), pieces, EVENT_TYPE)
        response = orjson.dumps(interaction.response(interaction.created))
        return self._send(route, script, [response], JSON_TYPE)

    @_typed_errors
    def get(self, route: RouteMatch) -> ApiResponse:
        """The steps of the request are always there; `include_input` changes nothing."""
        query, now = route.request.query, self._clock()
        interaction = self.store.find(route.name, route.request.key)
        after, streams = query.get("last_event_id", ""), query.get("stream", "").lower() == "true"
        if after and not streams:
            raise refused("'last_event_id' can only be used if 'stream' is true.")
        if streams:
            return self._send(route, ScriptedReply(), replayed_events(interaction, now, after), EVENT_TYPE)
        return _json(route, interaction.describe(now))

    @_typed_errors
    def cancel(self, route: RouteMatch) -> ApiResponse:
        interaction, now = self.store.find(route.name, route.request.key), self._clock()
        if not interaction.is_background:
            raise refused("Only background interactions can be cancelled.")
        if interaction.status(now) != "in_progress":
            raise InteractionError(400, "failed_precondition", "The interaction is not in progress.")
        return _json(route, self.store.cancel(interaction).describe(now))

    @_typed_errors
    def delete(self, route: RouteMatch) -> ApiResponse:
        self.store.delete(route.name, route.request.key)
        return _json(route, {})

    def _previous(self, request: InteractionRequest, key: str) -> StoredInteraction | None:
        if not request.previous_interaction_id:
            return None
        found = self.store.find(request.previous_interaction_id, key)
        if not found.has_answer(self._clock()):
            raise InteractionError(400, "failed_precondition", "The previous interaction has no answer.")
        return found

    def _native(self, turn: _Turn) -> GenerateRequest:
        """A continuation without input repeats the request that was paused."""
        steps = (*(turn.previous.conversation_after if turn.previous else ()), *turn.request.input)
        body = to_generate_request(turn.request, steps, turn.model)
        if turn.request.input or not turn.previous:
            return body
        return turn.previous.body.model_copy(update={"continuation_token": body.continuation_token})

    def _answer(
        self, turn: _Turn, body: GenerateRequest, route: RouteMatch
    ) -> tuple[ScriptedReply, InteractionAnswer]:
        """An overload or an exhausted quota ends a background interaction; other errors refuse it."""
        streams = turn.request.stream
        try:
            response = self._generator.reply(
                body, turn.model, route.request, route.entry.decision, streams=streams
            )
        except ApiError as error:
            if not turn.request.background or error.code < _FIRST_RETRYABLE:
                raise
            return ScriptedReply(), InteractionAnswer(status="failed", failure=as_interaction_error(error))
        splits_arguments = response.script.partial
        response = response.with_script(replace(response.script, partial=False))
        chunks = response.stream() if streams else [response.full_response()]
        return response.script, read_answer(chunks, splits_arguments=splits_arguments)

    def _interaction(
        self, turn: _Turn, body: GenerateRequest, answer: InteractionAnswer, key: str
    ) -> StoredInteraction:
        now, request, previous = self._clock(), turn.request, turn.previous
        return StoredInteraction(
            name=self.store.next_name() if request.store else "",
            key=key,
            model=request.model.removeprefix("models/"),
            created=now,
            due=now,
            conversation=(*(previous.conversation_after if previous else ()), *request.input),
            asked=tuple(request.input),
            body=body,
            answer=answer,
            previous=request.previous_interaction_id,
            service_tier=request.service_tier,
            is_background=request.background,
        )


def _model(request: InteractionRequest) -> Model:
    """Raises InteractionError (404) for an agent, and for a model that is not there."""
    if request.agent:
        raise InteractionError(404, "not_found", f"Agent '{request.agent}' not found.")
    model = find_model(request.model)
    if model is None or "generateContent" not in model.methods:
        raise unknown_model(request.model)
    return model


def _json(
    route: RouteMatch, value: JsonObject, status: int = 200, headers: Mapping[str, str] | None = None
) -> ApiResponse:
    route.entry.status = status
    body = Body([orjson.dumps(value)], route.entry)
    return ApiResponse(status, {"content-type": JSON_TYPE, **(headers or {})}, body)
