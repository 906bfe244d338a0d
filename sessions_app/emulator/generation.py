"""From a generate request to its reply: the checks, the count, the scenario."""

import base64
import hashlib
from collections import Counter, OrderedDict
from dataclasses import replace

from sessions_app.emulator import refusals
from sessions_app.emulator.caches import Cache, Shelf
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.exchange import Request
from sessions_app.emulator.markers import Mark, apply_marks, find_marks
from sessions_app.emulator.prefixes import Prefixes
from sessions_app.emulator.replies import Reply
from sessions_app.emulator.scenarios import play
from sessions_app.emulator.scripts import Scene, Script, functions_of, newest_text, rounds_of, shorten
from sessions_app.emulator.shapes import GenerateRequest
from sessions_app.emulator.signatures import Mint, check_signatures, restored_thoughts
from sessions_app.emulator.structure import check_structure
from sessions_app.emulator.tokens import tally
from sessions_app.emulator.usage import Usage

_SPENT_KEPT = 1_000


class Generator:
    """Answers generate requests. Remembers prefixes, spent markers and how many it answered."""

    def __init__(self, caches: Shelf, secret: bytes) -> None:
        self._caches = caches
        self._mint = Mint(secret)
        self._prefixes = Prefixes()
        self._spent: OrderedDict[str, None] = OrderedDict()
        self._count = 0

    def reply(self, asked: GenerateRequest, model: Model, request: Request) -> Reply:
        """Raises Refusal for whatever the API would not answer."""
        cache = self.cache_of(asked, request.key, model)
        check_structure(asked, model)
        check_signatures(asked.contents, model, self._mint)
        usage = self._usage(asked, model, request.key, cache)
        scene = _scene(asked, model, usage, cache)
        script = self._script(scene, asked, request.key)
        if script.refusal:
            raise script.refusal
        thinking = asked.generation_config.thinking_config
        return Reply(script, model, usage, self._mint, self._response_id(request), thinking.include_thoughts)

    def cache_of(self, asked: GenerateRequest, key: str, model: Model | None = None) -> Cache | None:
        """The explicit cache a request names. Raises Refusal: 403 when gone, 400 when it does not fit."""
        if not asked.cached_content:
            return None
        cache = self._caches.find(asked.cached_content, key)
        if asked.system_instruction or asked.tools or asked.tool_config:
            raise refusals.cache_beside_fields()
        if model and model.name != cache.model:
            raise refusals.cache_of_other_model(model.name, cache.model)
        return cache

    def _usage(self, asked: GenerateRequest, model: Model, key: str, cache: Cache | None) -> Usage:
        prompt, cached = request_counts(asked, cache), cache.counts if cache else Counter[str]()
        if prompt.total() > model.input_limit:
            raise refusals.too_long(model.input_limit)
        if cache is None:
            scope = f"{key}\0{model.name}"
            hit = self._prefixes.match(scope, asked.all_contents, asked.tools, model.implicit_minimum)
            cached = Counter({"TEXT": hit})
        return Usage(prompt, cached, restored_thoughts(asked.contents, model, self._mint))

    def _script(self, scene: Scene, asked: GenerateRequest, key: str) -> Script:
        marks = tuple(mark for mark in find_marks(scene.text) if self._is_due(mark, f"{key}\0{scene.text}"))
        script = shorten(apply_marks(scene, play(scene), marks), asked.generation_config.max_output_tokens)
        return script if _thinks(asked) else replace(script, thoughts=())

    def _is_due(self, mark: Mark, text: str) -> bool:
        """False for a `once` marker that an earlier request with the same text has spent."""
        if not mark.once:
            return True
        spending = hashlib.sha256(f"{mark.word}\0{text}".encode()).hexdigest()
        if spending in self._spent:
            return False
        self._spent[spending] = None
        if len(self._spent) > _SPENT_KEPT:
            self._spent.popitem(last=False)
        return True

    def _response_id(self, request: Request) -> str:
        """22 URL-safe characters; a repeated request gets another id, a repeated sequence the same ones."""
        self._count += 1
        digest = hashlib.sha256(f"{self._count} {request.path}\n".encode() + request.body).digest()
        return base64.urlsafe_b64encode(digest)[:22].decode()


def request_counts(asked: GenerateRequest, cache: Cache | None) -> Counter[str]:
    """Prompt tokens by modality, the cache's included."""
    return (cache.counts if cache else Counter()) + tally(asked.all_contents, asked.tools)


def _scene(asked: GenerateRequest, model: Model, usage: Usage, cache: Cache | None) -> Scene:
    return Scene(
        model=model,
        text=newest_text(asked.contents),
        rounds=rounds_of(asked.contents),
        functions=functions_of(cache.tools if cache else asked.tools),
        contents=tuple(asked.contents),
        shows_thoughts=asked.generation_config.thinking_config.include_thoughts,
        tokens=usage.prompt.total(),
        cached=usage.cached.total(),
        cache_name=cache.name if cache else "",
    )


def _thinks(asked: GenerateRequest) -> bool:
    thinking = asked.generation_config.thinking_config
    return thinking.thinking_budget != 0 and thinking.thinking_level.lower() != "minimal"
