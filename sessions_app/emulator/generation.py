"""From a generate request to its reply: the checks, the count, the scenario."""

import base64
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from sessions_app.emulator import refusals
from sessions_app.emulator.caches import Cache, Shelf
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.exchange import Request
from sessions_app.emulator.faults import HEADER, Fault, parse_faults, struck
from sessions_app.emulator.formats import force_call, in_format, sign, stop_early
from sessions_app.emulator.markers import Mark, apply_marks, find_marks, said_before
from sessions_app.emulator.prefixes import Prefixes
from sessions_app.emulator.replay import Recordings
from sessions_app.emulator.replies import Reply
from sessions_app.emulator.scenarios import play
from sessions_app.emulator.scripts import Scene, Script, functions_of, newest_text, rounds_of, shorten
from sessions_app.emulator.settings import ToolConfig
from sessions_app.emulator.shapes import FunctionDeclaration, GenerateRequest
from sessions_app.emulator.signatures import Mint, check_signatures, restored_thoughts
from sessions_app.emulator.structure import check_structure
from sessions_app.emulator.tokens import tally
from sessions_app.emulator.usage import Usage

_SPENT_KEPT = 1_000


class Answer(Protocol):
    """What can be told whole or in chunks: a Reply or a Recording."""

    @property
    def script(self) -> Script: ...
    def stream(self) -> list[dict[str, Any]]: ...
    def whole(self) -> dict[str, Any]: ...


class Generator:
    """Answers generate requests. Remembers prefixes, spent markers and how many it answered."""

    def __init__(
        self,
        caches: Shelf,
        secret: bytes,
        play: Callable[[Scene], Script] = play,
        faults: Sequence[Fault] = (),
        recordings: Recordings | None = None,
    ) -> None:
        self._caches = caches
        self._play = play
        self._faults = faults
        self._recordings = recordings or Recordings()
        self._mint = Mint(secret, self._recordings.signatures)
        self._prefixes = Prefixes()
        self._spent: OrderedDict[str, None] = OrderedDict()
        self._asked = self._count = 0

    def reply(
        self, asked: GenerateRequest, model: Model, request: Request, *, streams: bool = True
    ) -> Answer:
        """Raises Refusal for whatever the API would not answer."""
        self._asked += 1
        cache = self.cache_of(asked, request.key, model)
        check_structure(asked, model)
        check_signatures(asked.contents, model, self._mint)
        usage = self._usage(asked, model, request.key, cache)
        scene = _scene(asked, model, usage, cache)
        recorded = self._recordings.find(scene, streams=streams)
        if recorded:
            answer: Answer = recorded.under(apply_marks(scene, recorded.script, self._struck(request)))
        else:
            answer = self._played(scene, asked, usage, request)
        if answer.script.refusal:
            raise answer.script.refusal
        return answer

    def _played(self, scene: Scene, asked: GenerateRequest, usage: Usage, request: Request) -> Reply:
        script = self._script(scene, asked, request)
        shows = asked.generation_config.thinking_config.include_thoughts
        response_id = "" if script.refusal else self._response_id(request)
        return Reply(script, scene.model, usage, self._mint, response_id, shows)

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

    def _script(self, scene: Scene, asked: GenerateRequest, request: Request) -> Script:
        config = asked.generation_config
        script = stop_early(in_format(force_call(scene, self._play(scene)), config), config)
        script = apply_marks(scene, script, self._marks(scene, request))
        script = script if _thinks(asked) else replace(script, thoughts=(), unseen_thoughts=0)
        script = sign(shorten(script, config.max_output_tokens), scene)
        partial = script.partial or _wants_pieces(asked)
        return replace(script, partial=partial, candidates=config.candidate_count or 1)

    def _marks(self, scene: Scene, request: Request) -> tuple[Mark, ...]:
        """Markers in the text, then the faults that strike."""
        where = f"{request.key}\0{scene.text}"
        said = tuple(mark for mark in find_marks(scene.text) if self._is_due(mark, where))
        return said + self._struck(request)

    def _struck(self, request: Request) -> tuple[Mark, ...]:
        """Faults of the command line and of the request's header."""
        faults = (*self._faults, *parse_faults(request.headers.get(HEADER, "")))
        return struck(faults, self._asked)

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
    declared = functions_of(cache.tools if cache else asked.tools)
    config = (cache.tool_config if cache else asked.tool_config) or ToolConfig()
    return Scene(
        model=model,
        text=newest_text(asked.contents),
        rounds=rounds_of(asked.contents),
        functions=_callable(declared, config),
        contents=tuple(asked.contents),
        mode=config.mode,
        declares=bool(declared),
        resumed_at=said_before(asked.continuation_token),
        shows_thoughts=asked.generation_config.thinking_config.include_thoughts,
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


def _wants_pieces(asked: GenerateRequest) -> bool:
    config = asked.tool_config
    return config is not None and config.function_calling_config.stream_function_call_arguments


def _thinks(asked: GenerateRequest) -> bool:
    thinking = asked.generation_config.thinking_config
    return thinking.thinking_budget != 0 and thinking.thinking_level.lower() != "minimal"
