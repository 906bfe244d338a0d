"""The protocol: keys, routes, and what each of them answers.

`Emulator.handle` is pure of HTTP servers and never waits; time passes only while a body is
read. The same sequence of requests gives the same bytes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sessions_app.emulator import chats, framing, pages, refusals, uploads
from sessions_app.emulator.answers import page, refused, whole
from sessions_app.emulator.caches import Shelf
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.exchange import Body, Hangup, Request, Response
from sessions_app.emulator.faults import Fault
from sessions_app.emulator.files import Cabinet
from sessions_app.emulator.generation import Answer, Generator, request_counts
from sessions_app.emulator.journal import Entry, Journal
from sessions_app.emulator.parsing import parse
from sessions_app.emulator.refusals import Refusal
from sessions_app.emulator.replay import Recordings
from sessions_app.emulator.scenarios import play
from sessions_app.emulator.scripts import Scene, Script
from sessions_app.emulator.shapes import CacheRequest, CacheUpdate, CountRequest, GenerateRequest
from sessions_app.emulator.tokens import details
from sessions_app.emulator.troubles import PROXY_PAGE, promised_length
from sessions_app.emulator.visits import Visit

SECRET = b"the emulator signs in the open"

_VERSIONED = re.compile(r"/(upload/)?(v1|v1beta|v1alpha)/(.+)")


class Emulator:
    """One emulated service with its caches, files, memory of prefixes and journal.

    `delay` and `slow_delay` are seconds before each chunk, the latter under `/slow`. `secret`
    signs: processes that share it accept each other's signatures. `clock` dates caches and files.
    `faults` strike by chance; `recordings` is a folder of traffic to serve again. `play` decides
    what the model says; the wire form of it stays the emulator's.
    """

    def __init__(
        self,
        *,
        delay: float = 0.02,
        slow_delay: float = 0.1,
        secret: bytes = SECRET,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        faults: Sequence[Fault] = (),
        recordings: Path | None = None,
        play: Callable[[Scene], Script] = play,
    ) -> None:
        self.journal = Journal()
        self.cabinet = Cabinet(clock)
        self.clock = clock
        self._caches = Shelf(clock)
        self.generator = Generator(self._caches, secret, play, faults, Recordings(recordings))
        self._delay = delay
        self._slow_delay = slow_delay

    def handle(self, request: Request) -> Response:
        """An answer, whatever is wrong with the request. Raises Hangup where the connection is to
        end without one."""
        if pages.is_asked(request):
            return pages.show(request, self.journal, self._caches.everybody())
        entry = self.journal.open(request.method, request.path, request.body)
        try:
            return self._route(request, entry)
        except Refusal as refusal:
            return refused(entry, request, refusal)

    def _route(self, request: Request, entry: Entry) -> Response:
        check_key(request)
        versioned = _VERSIONED.fullmatch(request.path)
        target = (versioned[1] or "") + versioned[3] if versioned else ""
        for method, pattern, handler in ROUTES:
            matched = pattern.fullmatch(target)
            if versioned and matched and method == request.method:
                return handler(self, Visit(request, entry, versioned[2], "".join(matched.groups())))
        raise refusals.unknown_route(request.path)

    def list_models(self, visit: Visit) -> Response:
        models = [model.resource() for model in MODELS.values()]
        return whole(visit.entry, page("models", models, visit))

    def get_model(self, visit: Visit) -> Response:
        return whole(visit.entry, visit.model("").resource())

    def count_tokens(self, visit: Visit) -> Response:
        visit.model("countTokens")
        asked = parse(CountRequest, visit.request.body)
        if asked.contents and asked.generate_content_request:
            raise refusals.invalid("Only one of contents and generate_content_request can be set.")
        generate = asked.generate_content_request or GenerateRequest(contents=asked.contents)
        cache = self.generator.cache_of(generate, visit.request.key)
        counts = request_counts(generate, cache)
        cached = {"cachedContentTokenCount": cache.tokens} if cache else {}
        answer = {"totalTokens": counts.total(), **cached, "promptTokensDetails": details(counts)}
        return whole(visit.entry, answer)

    def generate(self, visit: Visit) -> Response:
        answer = self._answer(visit, streams=False)
        return self.paced(visit, answer.script, [framing.pretty(answer.whole())], framing.JSON_TYPE)

    def stream(self, visit: Visit) -> Response:
        answer = self._answer(visit, streams=True)
        if visit.wants_events:
            return self.paced(visit, answer.script, list(framing.events(answer.stream())), framing.EVENT_TYPE)
        return self.paced(visit, answer.script, list(framing.array(answer.stream())), framing.JSON_TYPE)

    def create_cache(self, visit: Visit) -> Response:
        asked = parse(CacheRequest, visit.request.body)
        model = visit.model("createCachedContent", asked.model)
        return whole(visit.entry, self._caches.create(asked, visit.request.key, model).resource())

    def list_caches(self, visit: Visit) -> Response:
        caches = [cache.resource() for cache in self._caches.of(visit.request.key)]
        return whole(visit.entry, page("cachedContents", caches, visit))

    def get_cache(self, visit: Visit) -> Response:
        return whole(visit.entry, self._caches.find(visit.name, visit.request.key).resource())

    def update_cache(self, visit: Visit) -> Response:
        change = parse(CacheUpdate, visit.request.body)
        return whole(visit.entry, self._caches.update(visit.name, visit.request.key, change).resource())

    def delete_cache(self, visit: Visit) -> Response:
        self._caches.delete(visit.name, visit.request.key)
        return whole(visit.entry, {})

    def paced(self, visit: Visit, script: Script, pieces: list[bytes], content_type: str) -> Response:
        """An answer at the emulator's pace, with whatever trouble the script has for it."""
        trouble = script.trouble
        if trouble.cut_after == 0:
            visit.entry.close(early=False)
            raise Hangup(clean=trouble.clean)
        if trouble.page:
            return _proxy_page(visit)
        visit.entry.status = 200
        pieces, headers = trouble.apply(pieces), {"content-type": content_type}
        if trouble.cut_after is not None:
            trouble = replace(trouble, cut_after=min(trouble.cut_after, len(pieces) - 1))
            headers |= promised_length(pieces)
        delay = self._slow_delay if script.slow else self._delay
        return Response(200, headers, Body(pieces, visit.entry, delay=delay, trouble=trouble))

    def _answer(self, visit: Visit, *, streams: bool) -> Answer:
        model = visit.model("generateContent")
        asked = parse(GenerateRequest, visit.request.body)
        self.cabinet.check(asked.contents, visit.request.key)
        return self.generator.reply(asked, model, visit.request, streams=streams)


Handler = Callable[[Emulator, Visit], Response]

_MODEL, _CACHE, _FILE = r"models/([^/:]+)", r"(cachedContents/[^/]+)", r"(files/[^/:]+)"

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
    ("POST", re.compile("upload/files"), lambda emulator, visit: uploads.upload(emulator.cabinet, visit)),
    ("GET", re.compile("files"), lambda emulator, visit: uploads.list_files(emulator.cabinet, visit)),
    ("GET", re.compile(_FILE), lambda emulator, visit: uploads.get_file(emulator.cabinet, visit)),
    ("DELETE", re.compile(_FILE), lambda emulator, visit: uploads.delete_file(emulator.cabinet, visit)),
    ("POST", re.compile("openai/chat/completions"), chats.complete),
    ("GET", re.compile("openai/models"), lambda _, visit: chats.list_models(visit)),
)


def check_key(request: Request) -> None:
    """Any key will do, except none and one that says it is invalid; the URL of an upload is one too."""
    if request.path.startswith("/upload/") and request.query.get("upload_id"):
        return
    speaks_openai = "/openai/" in request.path
    key = request.bearer if speaks_openai else request.key
    if not key:
        raise refusals.no_bearer() if speaks_openai else refusals.missing_key()
    if "invalid" in key.lower():
        raise refusals.bad_key()


def _proxy_page(visit: Visit) -> Response:
    visit.entry.status = 502
    return Response(502, {"content-type": framing.JSON_TYPE}, Body([PROXY_PAGE], visit.entry))
