"""What sessions are recognised by in a foreign request: hashes of its meaning, never its text as a whole."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b, sha256
from itertools import groupby
from typing import Any

from sessions_app.capture.agents import NOBODY, Agent, agent_of, names_of
from sessions_app.prompt import wire
from sessions_app.prompt.parts import (
    PARTS_KEY,
    TEXT_KEY,
    PartView,
    RawPart,
    is_thought,
    parts_in,
    without_signature,
)
from sessions_app.prompt.signatures import signatures_of
from sessions_app.prompt.spellings import spelled_alike
from sessions_app.prompt.wire import as_dict, as_list

LONG_ENOUGH = 16
"""Characters from which on a string says something: shorter ones stand in unrelated requests too."""

OPENING_LIMIT = 20_000
"""Characters of the first content that are searched for the arguments of a call."""

_EMPTY: tuple[dict[str, Any], ...] = ({}, {TEXT_KEY: ""})
"""What is left of a part that held a signature alone."""

_URL_SAFE = str.maketrans("+/", "-_")

GENERATED = ("<session_context>", "<loaded_context>")
"""Beginnings of texts that a client generates, and sends in unrelated sessions alike: Gemini CLI."""


@dataclass(frozen=True, slots=True)
class RequestTraits:
    """`lane` is a hash of the system instruction and the tools, `agent` what tells them where they change.

    `contents` has a hash for each content, `bare` one of what is said alone: without signatures and thoughts,
    which clients drop, and without generated context. `answers` says which contents are the model's, `texts`
    has a hash of the text of each, without thoughts, with that of those of the same role behind it; it is
    empty for these.

    `said` has the long strings of all parts, without thoughts, generated context, ids and signatures.
    `context` counts the contents at the beginning that are nothing but generated context, or stand in a
    cache. `newest` is the last text of the user, `opening` the text of the first content; `name` was given by
    the client and overrides the rest. `signatures` are those of all contents. `cache` is the name of an
    explicit cache that stands for the system instruction and the tools. `token` stands for the continuation
    token of an answer that it asks the rest of. `must_call`: the answer has to be a call, whose arguments may
    be what was asked for; nothing need be run.
    """

    lane: str
    contents: tuple[str, ...]
    bare: tuple[str, ...] = ()
    answers: tuple[bool, ...] = ()
    texts: tuple[str, ...] = ()
    agent: Agent = NOBODY
    scope: str = ""
    name: str = ""
    cache: str = ""
    token: str = ""
    has_tools: bool = False
    must_call: bool = False
    context: int = 0
    said: frozenset[str] = frozenset()
    signatures: frozenset[str] = frozenset()
    newest: str = ""
    opening: str = field(default="", repr=False)

    @property
    def own(self) -> int:
        """How many contents say more than generated context."""
        return len(self.contents) - self.context

    def is_like(self, other: "RequestTraits") -> bool:
        """Whether one agent may have sent both: of one that names a cache, the instruction is not seen."""
        return bool(self.cache) != bool(other.cache) or self.agent.is_like(other.agent)

    def may_follow(self, other: "RequestTraits") -> bool:
        """The same where the history shows that one goes on from the other; see `Agent.may_follow`."""
        return bool(self.cache) != bool(other.cache) or self.agent.may_follow(other.agent)


def traits_of(body: bytes, *, scope: str = "", name: str = "") -> RequestTraits | None:
    """None where there are no contents: another method, or nothing that can be read."""
    request = _request_in(body)
    listed = _contents_in(request) if request else []
    if request is None or not listed:
        return None
    system = request.get("systemInstruction", request.get("system_instruction"))
    tools = request.get("tools")
    cache = request.get("cachedContent", request.get("cached_content"))
    token = request.get("continuationToken", request.get("continuation_token"))
    hashes = tuple(map(meaning, listed))
    return RequestTraits(
        lane=meaning([system, spelled_alike(tools)]),
        contents=hashes,
        bare=tuple(map(_bare_meaning, listed, hashes)),
        answers=tuple(one.get("role") == "model" for one in listed),
        texts=tuple(_whole_texts(listed)),
        agent=agent_of(system, tools),
        scope=scope,
        name=name,
        cache=cache if isinstance(cache, str) else "",
        token=token_hash(token) if isinstance(token, str) else "",
        has_tools=bool(tools),
        must_call=_must_call(request),
        context=next((at for at, one in enumerate(listed) if not _is_context(one)), len(listed)),
        said=frozenset(text_hash(text) for one in listed for text in _long_strings(one)),
        signatures=frozenset(found for one in listed for found in _signatures_in(one)),
        newest=_newest(listed),
        opening="\n".join(_texts(listed[0]))[:OPENING_LIMIT],
    )


def behind(held: RequestTraits, traits: RequestTraits) -> RequestTraits:
    """A request with what the cache holds that it names, where that is part of a conversation: it has an
    answer of the model. google-adk caches all but the newest contents, and sends those alone.
    """
    if not any(held.answers):
        return traits
    return replace(
        traits,
        contents=(*held.contents, *traits.contents),
        bare=(*held.bare, *traits.bare),
        answers=(*held.answers, *traits.answers),
        texts=(*held.texts, *traits.texts),
        context=len(held.contents) + traits.context,
        signatures=held.signatures | traits.signatures,
    )


def answer_signatures(content: bytes | None) -> frozenset[str]:
    """The signatures of an answer's content, in the form of `RequestTraits.signatures`."""
    return frozenset(one.sha256 for one in signatures_of(content or b""))


def may_pass_unread(body: bytes) -> bool:
    """Whether the provider may answer a body of which `traits_of` makes nothing: none without contents."""
    request = _request_in(body)
    return request is None or ("contents" in request and not _contents_in(request))


def _request_in(body: bytes) -> dict[str, Any] | None:
    if wire.is_too_complex(body):
        return None
    try:
        request = wire.loads(body)
    except ValueError:
        return None
    return request if isinstance(request, dict) else None


def _contents_in(request: Mapping[str, Any]) -> list[Any]:
    """Empty where there are none, or one of them is no object."""
    contents = request.get("contents")
    listed = contents if isinstance(contents, list) else [contents]
    return listed if all(isinstance(one, dict) for one in listed) else []


def _must_call(request: Mapping[str, Any]) -> bool:
    """Libraries that fill in a schema have it declared as a function, alone or beside the tools of an agent,
    and the model must call until it has called that one.
    """
    config = as_dict(request.get("toolConfig", request.get("tool_config")))
    calling = as_dict(config.get("functionCallingConfig", config.get("function_calling_config")))
    allowed = as_list(calling.get("allowedFunctionNames", calling.get("allowed_function_names")))
    return calling.get("mode") == "ANY" and bool(allowed or list(names_of(request.get("tools"))))


def meaning(value: Any) -> str:
    """The canonical hash: equal for JSON that says the same, however it is spelled."""
    return blake2b(wire.canonical(value), digest_size=12).hexdigest()


def _bare_meaning(content: Any, whole: str) -> str:
    parts = parts_in(content)
    said = [bare for part in parts if (bare := without_signature(part)) not in _EMPTY and _is_said(part)]
    return whole if said == parts else meaning({**content, PARTS_KEY: said})


def _is_said(part: RawPart) -> bool:
    return not is_thought(part) and not is_generated(PartView(0, part).text)


def token_hash(token: str) -> str:
    """The hash of a base64 token in either alphabet; empty for none."""
    plain = token.rstrip("=").translate(_URL_SAFE)
    return short_hash(plain) if plain else ""


def text_hash(text: str) -> str:
    """The hash of a text without the white space around it; empty for none."""
    plain = text.strip()
    return short_hash(plain) if plain else ""


def short_hash(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def is_generated(text: str) -> bool:
    return text.lstrip().startswith(GENERATED)


def strings_in(value: Any) -> Iterator[str]:
    """The strings of a JSON value, ids left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if key != "id":
                yield from strings_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings_in(one)


def _views(content: Any) -> Iterator[PartView]:
    return (PartView(at, part) for at, part in enumerate(parts_in(content)))


def _texts(content: Any) -> Iterator[str]:
    return (view.text for view in _views(content) if view.text)


def _whole_texts(contents: list[Any]) -> Iterator[str]:
    """google-genai sends each chunk of a streamed answer as a content of its own."""
    for _, group in groupby(contents, key=lambda one: one.get("role") == "model"):
        run = list(group)
        views = (view for one in run for view in _views(one))
        yield text_hash("".join(view.text for view in views if not is_thought(view.raw)))
        yield from [""] * (len(run) - 1)


def _is_context(content: Any) -> bool:
    views = list(_views(content))
    return bool(views) and all(is_generated(view.text) for view in views)


def _long_strings(content: Any) -> Iterator[str]:
    for view in (view for view in _views(content) if not is_thought(view.raw)):
        call, response = (view.call or {}).get("args"), (view.response or {}).get("response")
        said = (view.text, call, response, view.code, view.code_result, _file(view))
        found = (text for value in said for text in strings_in(value))
        yield from (text for text in found if len(text) >= LONG_ENOUGH and not is_generated(text))


def _signatures_in(content: Any) -> Iterator[str]:
    signatures = (view.signature for view in _views(content))
    yield from (sha256(one).hexdigest() for one in signatures if one)


def _file(view: PartView) -> str:
    return (view.file.data or view.file.uri) if view.file else ""


def _newest(contents: list[Any]) -> str:
    """The hash of the last text of the user that the client did not generate; empty for none."""
    for content in reversed(contents):
        if content.get("role", "user") == "user":
            texts = [text for text in _texts(content) if not is_generated(text)]
            if texts:
                return short_hash(texts[-1])
    return ""
