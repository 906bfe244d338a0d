"""The emulated service: API keys, routes and what each route returns.

`Emulator.handle` knows no HTTP server and never waits; time passes only while a body is read.
The same sequence of requests gives the same bytes.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sessions_app.emulator import api_errors, journal, openai_resources
from sessions_app.emulator.answer_form import NEWEST, FormTable
from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.cache_store import RESOURCE, CachedContentRequest, CacheStore, CacheUpdate
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.decisions import Decision
from sessions_app.emulator.delivery import deliver, is_preflight, preflight
from sessions_app.emulator.embeddings import EMBEDDING_MODELS, batch_embed_contents, embed_content
from sessions_app.emulator.faults import FaultPlan
from sessions_app.emulator.file_store import FileStore, upload
from sessions_app.emulator.framing import EVENT_TYPE, JSON_TYPE, PROXY_PAGE, array, events, pretty
from sessions_app.emulator.gemini_requests import CountRequest, GenerateRequest
from sessions_app.emulator.generation import Generator, ModelResponse, miscount, request_counts
from sessions_app.emulator.http import (
    ApiRequest,
    ApiResponse,
    Body,
    ConnectionClosed,
    RouteMatch,
    Sleep,
    error_response,
    json_response,
)
from sessions_app.emulator.interactions import InteractionsApi
from sessions_app.emulator.journal import Journal, JournalEntry
from sessions_app.emulator.openai_completions import Completion, sse_events
from sessions_app.emulator.openai_requests import ChatRequest, to_generate_request
from sessions_app.emulator.replay import Recordings
from sessions_app.emulator.resource_store import Clock, ResourceStore
from sessions_app.emulator.scenarios import play
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedReply
from sessions_app.emulator.slash_commands import CommandUse
from sessions_app.emulator.usage import details
from sessions_app.emulator.wire_model import parse

SECRET = b"the emulator signs in the open"

_PATH = re.compile(r"/(upload/)?(?:(v1|v1beta2?|v1alpha)/)?(.+)")
_DEFAULT_VERSION = "v1beta"
_CREATION = 5.0
"""Seconds that the creation of a cache takes at most, where the command names no figure."""


class Emulator:
    """One emulated service with its caches, files, known prefixes and journal.

    `delay` and `slow_delay` are seconds before each chunk, the latter under `/slow`. Processes with
    the same `secret` accept each other's signatures. `clock` dates caches and files, `sleep` waits.
    `faults` apply by chance; `recordings` is a folder of traffic to replay. `play` decides what the model
    says, never how it is laid out; `forms` is how.
    """

    def __init__(
        self,
        *,
        delay: float = 0.02,
        slow_delay: float = 0.1,
        secret: bytes = SECRET,
        clock: Clock = lambda: datetime.now(UTC),
        sleep: Sleep = asyncio.sleep,
        faults: Sequence[CommandUse] = (),
        recordings: Path | None = None,
        play: Callable[[ScenarioContext], ScriptedReply] = play,
        forms: FormTable = NEWEST,
    ) -> None:
        self.journal = Journal()
        self.clock = clock
        self.files = FileStore(clock)
        self.caches = CacheStore(clock)
        self.faults = FaultPlan(faults)
        replayed = Recordings(recordings)
        self._generator = Generator(self.caches, secret, play, self.faults, replayed, forms=forms)
        self._sleep = sleep
        self._delay = delay
        self._slow_delay = slow_delay
        self.interactions = InteractionsApi(
            self._generator, self.files, clock, self._stream, self._seconds_a_piece
        )

    def handle(self, request: ApiRequest) -> ApiResponse:
        """A response, whatever is wrong with the request. Raises ConnectionClosed where the connection
        ends without one."""
        if request.method == "GET" and request.path in journal.PATHS:
            return self._show_journal(request)
        entry = self.journal.open(request.method, request.path, request.body, self.clock())
        if is_preflight(request):
            return preflight(request, entry)
        try:
            response = self._route(request, entry)
        except ApiError as error:
            entry.decision.rule = error.rule
            response = error_response(entry, request, error)
        return deliver(response, request)

    def _route(self, request: ApiRequest, entry: JournalEntry) -> ApiResponse:
        check_alt(request)
        check_key(request)
        path = _PATH.fullmatch(request.path)
        target = (path[1] or "") + path[3] if path else ""
        for method, pattern, handler in ROUTES:
            matched = pattern.fullmatch(target)
            if path and matched and method == request.method:
                version = path[2] or _DEFAULT_VERSION
                return handler(self, RouteMatch(request, entry, version, "".join(matched.groups())))
        raise api_errors.unknown_route(request.path)

    def list_models(self, route: RouteMatch) -> ApiResponse:
        models = [model.resource() for model in MODELS.values()]
        models += [model.resource() for model in EMBEDDING_MODELS.values()]
        return json_response(route.entry, route.page("models", models))

    def get_model(self, route: RouteMatch) -> ApiResponse:
        model = EMBEDDING_MODELS.get(route.name) or route.described_model()
        return json_response(route.entry, model.resource())

    def count_tokens(self, route: RouteMatch) -> ApiResponse:
        if route.name not in EMBEDDING_MODELS:
            route.model("countTokens")
        body = parse(CountRequest, route.request.body)
        if body.contents and body.generate_content_request:
            raise api_errors.invalid("Only one of contents and generate_content_request can be set.")
        generate = body.generate_content_request or GenerateRequest(contents=body.contents)
        cache = self._generator.cache_of(generate, route.request.key)
        faults = self._generator.faults_of(generate, route.request, route.entry.decision, "countTokens")
        counts = request_counts(generate, cache, miscount(faults))
        answer = {
            "totalTokens": counts.total(),
            "cachedContentTokenCount": cache.tokens if cache else 0,
            "promptTokensDetails": details(counts),
        }
        return json_response(route.entry, {name: value for name, value in answer.items() if value})

    def generate(self, route: RouteMatch) -> ApiResponse:
        response = self._respond(route, streams=False)
        return self._stream(route, response.script, [pretty(response.full_response())], JSON_TYPE)

    def stream(self, route: RouteMatch) -> ApiResponse:
        response = self._respond(route, streams=True)
        if route.request.wants_events:
            return self._stream(route, response.script, events(response.stream()), EVENT_TYPE)
        return self._stream(route, response.script, array(response.stream()), JSON_TYPE)

    def complete_chat(self, route: RouteMatch) -> ApiResponse:
        """Raises ApiError in Gemini's words. Arguments never stream in pieces here."""
        body = parse(ChatRequest, route.request.body)
        name = body.model.removeprefix("google/")
        model = replace(route, version=openai_resources.OPENAI_VERSION).model("generateContent", name)
        headers = {**route.request.headers, "x-goog-api-key": route.request.bearer}
        request = replace(route.request, headers=headers)
        response = self._generator.reply(
            to_generate_request(body, model), model, request, route.entry.decision, streams=body.stream
        )
        response = response.with_script(replace(response.script, partial=False))
        completion = Completion(name, int(self.clock().timestamp()), body.wants_usage)
        if body.stream:
            pieces = sse_events(completion.stream(response.stream()))
            return self._stream(route, response.script, pieces, EVENT_TYPE)
        full_response = pretty(completion.full_response(response.full_response()))
        return self._stream(route, response.script, [full_response], JSON_TYPE)

    def create_cache(self, route: RouteMatch) -> ApiResponse:
        body = parse(CachedContentRequest, route.request.body, within=RESOURCE)
        model = route.model("createCachedContent", body.model)
        applied = route.entry.decision.faults
        faults = self.faults.of(route.request, "", applied, method="createCachedContent")
        cache = self.caches.create(body, route.request.key, model, miscount(faults))
        seconds = faults.share("creating", _CREATION)
        response = json_response(route.entry, cache.describe(self.clock()))
        return replace(response, body=response.body.paced(seconds, self._sleep))

    def update_cache(self, route: RouteMatch) -> ApiResponse:
        change = parse(CacheUpdate, route.request.body, within=RESOURCE)
        cache = self.caches.update(route.name, route.request.key, change)
        return json_response(route.entry, cache.describe(self.clock()))

    def _respond(self, route: RouteMatch, *, streams: bool) -> ModelResponse:
        model = route.model("generateContent")
        body = parse(GenerateRequest, route.request.body)
        self.files.check_references(body.contents, route.request.key)
        return self._generator.reply(body, model, route.request, route.entry.decision, streams=streams)

    def _stream(
        self, route: RouteMatch, script: ScriptedReply, pieces: list[bytes], content_type: str
    ) -> ApiResponse:
        """The pieces with the delay and the fault of the script."""
        fault = script.fault
        if fault.cut_after == 0:
            route.entry.close(early=False)
            raise ConnectionClosed(is_clean=fault.is_clean)
        route.entry.status = 502 if fault.proxy_page else 200
        if fault.proxy_page:
            return ApiResponse(502, {"content-type": JSON_TYPE}, Body([PROXY_PAGE], route.entry))
        pieces, headers = fault.apply(pieces), {"content-type": content_type}
        if fault.cut_after is not None:
            fault = replace(fault, cut_after=min(fault.cut_after, len(pieces) - 1))
            # A server that cannot cut a connection still leaves the client waiting for the rest.
            headers |= {"content-length": str(sum(map(len, pieces))), "connection": "close"}
        delay = self._seconds_a_piece(script)
        return ApiResponse(
            200, headers, Body(pieces, route.entry, delay=delay, fault=fault, sleep=self._sleep)
        )

    def _seconds_a_piece(self, script: ScriptedReply) -> float:
        return self._slow_delay if script.slow else self._delay

    def _show_journal(self, request: ApiRequest) -> ApiResponse:
        """Not in the journal itself, and without a key."""
        now = self.clock()
        facts = self.journal.describe([cache.describe(now) for cache in self.caches.all()])
        if request.path.endswith(".json") or "json" in request.headers.get("accept", ""):
            text, content_type = pretty(facts), JSON_TYPE
        else:
            text, content_type = journal.render_page(facts).encode(), "text/html; charset=utf-8"
        entry = JournalEntry(0, request.method, request.path, b"", Decision(now))
        return ApiResponse(200, {"content-type": content_type, **journal.PAGE_HEADERS}, Body([text], entry))


def check_key(request: ApiRequest) -> None:
    """Any key is accepted but one that contains `invalid`; the URL of an upload stands for its key."""
    if request.path.startswith("/upload/") and request.query.get("upload_id"):
        return
    key = request.bearer if request.is_openai else request.key
    if not key:
        raise api_errors.missing_bearer() if request.is_openai else api_errors.missing_key()
    if "invalid" in key.lower():
        raise api_errors.invalid_key()


def check_alt(request: ApiRequest) -> None:
    """Before the key, the form of the answer (iamsrikanthnani/pluely#30: the key stood behind `sse?`)."""
    wanted = request.query.get("alt", "json")
    if wanted not in {"json", "sse", "media", "proto"}:
        raise api_errors.invalid(f"Invalid value \"{wanted}\" for query parameter 'alt'")


def _list(store: ResourceStore[Any], name: str, route: RouteMatch) -> ApiResponse:
    resources = [found.describe(store.clock()) for found in store.owned_by(route.request.key)]
    return json_response(route.entry, route.page(name, resources))


def _get(store: ResourceStore[Any], route: RouteMatch) -> ApiResponse:
    found = store.find(route.name, route.request.key)
    return json_response(route.entry, found.describe(store.clock()))


def _delete(store: ResourceStore[Any], route: RouteMatch) -> ApiResponse:
    store.delete(route.name, route.request.key)
    return json_response(route.entry, {})


Handler = Callable[[Emulator, RouteMatch], ApiResponse]

_MODEL, _CACHE, _FILE = r"models/([^/:]+)", r"(cachedContents/[^/]+)", r"(files/[^/:]+)"
_INTERACTION = r"interactions/([^/:]+)"

ROUTES: tuple[tuple[str, re.Pattern[str], Handler], ...] = (
    ("GET", re.compile("models"), Emulator.list_models),
    ("GET", re.compile(_MODEL), Emulator.get_model),
    ("POST", re.compile(_MODEL + ":generateContent"), Emulator.generate),
    ("POST", re.compile(_MODEL + ":streamGenerateContent"), Emulator.stream),
    ("POST", re.compile(_MODEL + ":countTokens"), Emulator.count_tokens),
    ("POST", re.compile(_MODEL + ":embedContent"), lambda _, route: embed_content(route)),
    ("POST", re.compile(_MODEL + ":batchEmbedContents"), lambda _, route: batch_embed_contents(route)),
    ("POST", re.compile("cachedContents"), Emulator.create_cache),
    ("PATCH", re.compile(_CACHE), Emulator.update_cache),
    ("GET", re.compile("cachedContents"), lambda self, route: _list(self.caches, "cachedContents", route)),
    ("GET", re.compile(_CACHE), lambda self, route: _get(self.caches, route)),
    ("DELETE", re.compile(_CACHE), lambda self, route: _delete(self.caches, route)),
    ("POST", re.compile("upload/files"), lambda self, route: upload(self.files, route)),
    ("GET", re.compile("files"), lambda self, route: _list(self.files, "files", route)),
    ("GET", re.compile(_FILE), lambda self, route: _get(self.files, route)),
    ("DELETE", re.compile(_FILE), lambda self, route: _delete(self.files, route)),
    ("POST", re.compile("interactions"), lambda self, route: self.interactions.create(route)),
    ("GET", re.compile(_INTERACTION), lambda self, route: self.interactions.get(route)),
    ("POST", re.compile(_INTERACTION + "/cancel"), lambda self, route: self.interactions.cancel(route)),
    ("DELETE", re.compile(_INTERACTION), lambda self, route: self.interactions.delete(route)),
    ("POST", re.compile("openai/chat/completions"), Emulator.complete_chat),
    ("POST", re.compile("openai/embeddings"), lambda _, route: openai_resources.create_embeddings(route)),
    ("GET", re.compile("openai/models"), lambda _, route: openai_resources.list_models(route)),
    ("GET", re.compile("openai/(?:models/)+([^/]+)"), lambda _, route: openai_resources.get_model(route)),
)
