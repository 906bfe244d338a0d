"""The protocol: keys, routes, and what each of them answers.

`Emulator.handle` is pure of HTTP servers and never waits; time passes only while a body is
read. The same sequence of requests gives the same bytes.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sessions_app.emulator import framing, refusals
from sessions_app.emulator.caches import Shelf
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.exchange import Body, Request, Response
from sessions_app.emulator.generation import Generator, request_counts
from sessions_app.emulator.journal import Entry, Journal
from sessions_app.emulator.parsing import parse
from sessions_app.emulator.refusals import Refusal
from sessions_app.emulator.replies import Reply
from sessions_app.emulator.scripts import Script
from sessions_app.emulator.shapes import CacheRequest, CacheUpdate, CountRequest, GenerateRequest
from sessions_app.emulator.tokens import details
from sessions_app.emulator.visits import Visit

SECRET = b"the emulator signs in the open"

_VERSIONED = re.compile(r"/(v1|v1beta|v1alpha)/(.+)")


class Emulator:
    """One emulated service with its caches, its memory of prefixes and its journal.

    `delay` and `slow_delay` are seconds before each chunk, the latter under `/slow`. `secret`
    signs: processes that share it accept each other's signatures. `clock` dates the caches.
    """

    def __init__(
        self,
        *,
        delay: float = 0.02,
        slow_delay: float = 0.1,
        secret: bytes = SECRET,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.journal = Journal()
        self._caches = Shelf(clock)
        self._generator = Generator(self._caches, secret)
        self._delay = delay
        self._slow_delay = slow_delay

    def handle(self, request: Request) -> Response:
        """Always an answer; whatever is wrong with the request is in it."""
        entry = self.journal.open(request.method, request.path, request.body)
        try:
            return self._route(request, entry)
        except Refusal as refusal:
            answer = refusal.payload()
            return _whole(entry, [answer] if _streams_array(request) else answer, status=refusal.code)

    def _route(self, request: Request, entry: Entry) -> Response:
        check_key(request.key)
        versioned = _VERSIONED.fullmatch(request.path)
        for method, pattern, handler in ROUTES:
            matched = pattern.fullmatch(versioned[2]) if versioned else None
            if versioned and matched and method == request.method:
                return handler(self, Visit(request, entry, versioned[1], "".join(matched.groups())))
        raise refusals.unknown_route(request.path)

    def list_models(self, visit: Visit) -> Response:
        models = [model.resource() for model in MODELS.values()]
        return _whole(visit.entry, _page("models", models, visit))

    def get_model(self, visit: Visit) -> Response:
        return _whole(visit.entry, visit.model("").resource())

    def count_tokens(self, visit: Visit) -> Response:
        visit.model("countTokens")
        asked = parse(CountRequest, visit.request.body)
        if asked.contents and asked.generate_content_request:
            raise refusals.invalid("Only one of contents and generate_content_request can be set.")
        generate = asked.generate_content_request or GenerateRequest(contents=asked.contents)
        cache = self._generator.cache_of(generate, visit.request.key)
        counts = request_counts(generate, cache)
        cached = {"cachedContentTokenCount": cache.tokens} if cache else {}
        answer = {"totalTokens": counts.total(), **cached, "promptTokensDetails": details(counts)}
        return _whole(visit.entry, answer)

    def generate(self, visit: Visit) -> Response:
        reply = self._reply(visit)
        return self._paced(visit, reply.script, [framing.pretty(reply.whole())], framing.JSON_TYPE)

    def stream(self, visit: Visit) -> Response:
        reply = self._reply(visit)
        if visit.wants_events:
            return self._paced(visit, reply.script, list(framing.events(reply.stream())), framing.EVENT_TYPE)
        return self._paced(visit, reply.script, list(framing.array(reply.stream())), framing.JSON_TYPE)

    def create_cache(self, visit: Visit) -> Response:
        asked = parse(CacheRequest, visit.request.body)
        model = visit.model("createCachedContent", asked.model)
        return _whole(visit.entry, self._caches.create(asked, visit.request.key, model).resource())

    def list_caches(self, visit: Visit) -> Response:
        caches = [cache.resource() for cache in self._caches.of(visit.request.key)]
        return _whole(visit.entry, _page("cachedContents", caches, visit))

    def get_cache(self, visit: Visit) -> Response:
        return _whole(visit.entry, self._caches.find(visit.name, visit.request.key).resource())

    def update_cache(self, visit: Visit) -> Response:
        change = parse(CacheUpdate, visit.request.body)
        return _whole(visit.entry, self._caches.update(visit.name, visit.request.key, change).resource())

    def delete_cache(self, visit: Visit) -> Response:
        self._caches.delete(visit.name, visit.request.key)
        return _whole(visit.entry, {})

    def _reply(self, visit: Visit) -> Reply:
        model = visit.model("generateContent")
        return self._generator.reply(parse(GenerateRequest, visit.request.body), model, visit.request)

    def _paced(self, visit: Visit, script: Script, pieces: list[bytes], content_type: str) -> Response:
        """An answer at the emulator's pace. One that will break off promises its full length, so that
        a server which cannot cut a connection still leaves the client waiting for the rest."""
        visit.entry.status = 200
        headers = {"content-type": content_type}
        drop_after = script.drop_after
        if drop_after is not None:
            drop_after = min(drop_after, len(pieces) - 1)
            headers |= {"content-length": str(sum(map(len, pieces))), "connection": "close"}
        delay = self._slow_delay if script.slow else self._delay
        return Response(200, headers, Body(pieces, visit.entry, delay=delay, drop_after=drop_after))


Handler = Callable[[Emulator, Visit], Response]

_MODEL, _CACHE = r"models/([^/:]+)", r"(cachedContents/[^/]+)"

ROUTES: tuple[tuple[str, re.Pattern[str], Handler], ...] = (
    ("GET", re.compile("models"), Emulator.list_models),
    ("GET", re.compile(_MODEL), Emulator.get_model),
    ("POST", re.compile(_MODEL + ":generateContent"), Emulator.generate),
    ("POST", re.compile(_MODEL + ":streamGenerateContent"), Emulator.stream),
    ("POST", re.compile(_MODEL + ":countTokens"), Emulator.count_tokens),
    ("POST", re.compile("cachedContents"), Emulator.create_cache),
    ("GET", re.compile("cachedContents"), Emulator.list_caches),
    ("GET", re.compile(_CACHE), Emulator.get_cache),
    ("PATCH", re.compile(_CACHE), Emulator.update_cache),
    ("DELETE", re.compile(_CACHE), Emulator.delete_cache),
)


def check_key(key: str) -> None:
    """Any key will do, except none and one that says it is invalid."""
    if not key:
        raise refusals.missing_key()
    if "invalid" in key.lower():
        raise refusals.bad_key()


def _streams_array(request: Request) -> bool:
    return request.path.endswith(":streamGenerateContent") and request.query.get("alt") != "sse"


def _whole(entry: Entry, value: Any, status: int = 200) -> Response:
    entry.status = status
    headers: Mapping[str, str] = {"content-type": framing.JSON_TYPE}
    return Response(status, headers, Body([framing.pretty(value)], entry))


def _page(name: str, resources: list[dict[str, Any]], visit: Visit) -> dict[str, Any]:
    """One page of a listing; `{}` when there is nothing to list."""
    end = visit.page_start + visit.page_size
    shown = resources[visit.page_start : end]
    following = {"nextPageToken": str(end)} if end < len(resources) else {}
    return {name: shown, **following} if shown else {}
