"""A foreign request body as items: what the model reads in reading order, then its configuration.

Whatever order, spelling and white space the client wrote, the items are byte spans of the body, and the bytes
between them are punctuation and known names only. What does not cut is one opaque item, never a failure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from json import JSONDecoder
from typing import Any

from sessions_app.capture.traits import is_generated
from sessions_app.prompt import wire
from sessions_app.prompt.calls import calls_of
from sessions_app.prompt.json_places import Member
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.parts import PARTS_KEY, TEXT_KEY, parts_in, response_of
from sessions_app.prompt.payload import SYSTEM_SOURCE, TOOLS_SOURCE, Item
from sessions_app.prompt.prompt_items import DECLARATIONS_KIND, TEXT_KIND
from sessions_app.prompt.tokens import estimate, estimate_part
from sessions_app.prompt.turns import TurnKind

OPAQUE_SOURCE = "opaque"
SYSTEM_KIND, CONFIGURATION_KIND, OPAQUE_KIND = "system_instruction", "configuration", "opaque"

_CONTENTS, _SYSTEM, _TOOLS, _CACHE = "contents", "systemInstruction", "tools", "cachedContent"
_CAMEL = {"system_instruction": _SYSTEM, "cached_content": _CACHE}
"""The members that are read, in the spelling of the SDKs that write snake_case."""

_ROLES = ("user", "model")
_decode = JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True, slots=True)
class CutBody:
    """`prompt` is what the model reads, in reading order; `configuration` is what stands beside it.

    `tail` is what follows the last item of the body; `cached_content` names an explicit cache.
    """

    prompt: tuple[Item, ...]
    configuration: tuple[Item, ...] = ()
    tail: bytes = b""
    cached_content: str = ""

    @property
    def items(self) -> tuple[Item, ...]:
        return self.prompt + self.configuration

    def joined(self) -> bytes:
        """The body again, from its items."""
        found = sorted(self.items, key=lambda item: item.start or 0)
        return b"".join(piece for item in found for piece in (item.lead, item.wire)) + self.tail


@dataclass(frozen=True, slots=True)
class _Span:
    """An item before its neighbours on the wire are known."""

    layer: Layer
    source: str
    role: str
    kind: str
    start: int
    end: int
    tokens: int
    content: int | None = None
    part: int | None = None


def cut(body: bytes) -> CutBody:
    """The items of a body; a body that is no request in JSON is one opaque item."""
    try:
        cutter = _Cutter(body)
        spans, configuration = cutter.prompt(), cutter.configuration()
    except ValueError:
        whole = _Span(Layer.TRIGGER, OPAQUE_SOURCE, "", OPAQUE_KIND, 0, len(body), estimate(body))
        return CutBody((_item(body, whole, 0),))
    ends: dict[int, int] = {}
    end = 0
    for span in sorted([*spans, *configuration], key=lambda one: one.start):
        ends[span.start], end = end, span.end
    prompt, beside = (
        tuple(_item(body, one, ends[one.start]) for one in group) for group in (spans, configuration)
    )
    return CutBody(prompt, beside, body[end:], cutter.cached_content)


def _item(body: bytes, span: _Span, after: int) -> Item:
    written = body[span.start : span.end]
    return Item(
        span.layer,
        span.source,
        span.role,
        span.kind,
        written,
        body[after : span.start],
        sha256(written).hexdigest(),
        span.tokens,
        span.start,
        span.end,
        span.content,
        span.part,
    )


class _Cutter:
    """Finds the spans of one body. Raises ValueError for what is no request, or names something twice."""

    def __init__(self, body: bytes) -> None:
        if wire.is_too_complex(body):
            raise ValueError("nested too deeply")
        self._value = wire.loads(body.decode())
        # A character of Latin-1 is a byte, so places in this text are places in the body.
        self._text = body.decode("latin-1")
        start = _blank(self._text, 0)
        if not isinstance(self._value, dict) or not self._value:
            raise ValueError("no object")
        listed = list(self._within(start))
        self._members = {_CAMEL.get(one.name, one.name): one for one in listed}
        if len(self._members) != len(listed):
            raise ValueError("a member stands there twice")
        self._values = {_CAMEL.get(name, name): value for name, value in self._value.items()}

    @property
    def cached_content(self) -> str:
        name = self._values.get(_CACHE)
        return _storable(name) if isinstance(name, str) else ""

    def prompt(self) -> list[_Span]:
        found = [*self._whole(_TOOLS), *self._whole(_SYSTEM)]
        if _CONTENTS in self._members:
            found += self._contents()
        return found

    def configuration(self) -> list[_Span]:
        """Every other member, known or not."""
        beside = [name for name in self._members if name not in (_TOOLS, _SYSTEM, _CONTENTS)]
        places = ((name, self._members[name]) for name in beside)
        return [
            _Span(Layer.STATIC, f"config:{_storable(name)[:100]}", "", CONFIGURATION_KIND, *place[1:], 0)
            for name, place in places
        ]

    def _whole(self, name: str) -> Iterator[_Span]:
        if place := self._members.get(name):
            source, kind, role = (
                (TOOLS_SOURCE, DECLARATIONS_KIND, "user")
                if name == _TOOLS
                else (SYSTEM_SOURCE, SYSTEM_KIND, "system")
            )
            tokens = estimate(self._text[place.start : place.end].encode("latin-1"))
            yield _Span(Layer.STATIC, source, role, kind, place.start, place.end, tokens)

    def _contents(self) -> Iterator[_Span]:
        place, values = self._members[_CONTENTS], self._values[_CONTENTS]
        is_list = isinstance(values, list)
        listed = values if is_list else [values]
        places = list(self._within(place.start)) if is_list else [place]
        last = len(listed) - 1
        for number, (value, one) in enumerate(zip(listed, places, strict=True)):
            layer = Layer.TRIGGER if number == last else Layer.BUFFERED
            yield from self._texts(value, one, number, layer) or self._content(value, one, number, layer)

    def _content(self, value: Any, place: Member, number: int, layer: Layer) -> list[_Span]:
        parts = parts_in(value)
        tokens = sum(map(estimate_part, parts))
        role = value.get("role") if isinstance(value, Mapping) else None
        kind = _kind(value)
        source = f"contents[{number}]"
        role = role if role in _ROLES else kind.role
        return [_Span(layer, source, role, kind.value, place.start, place.end, tokens, number)]

    def _texts(self, value: Any, place: Member, number: int, layer: Layer) -> list[_Span]:
        """The texts of a content one by one, where the client generated some of them; else nothing."""
        parts = parts_in(value)
        if not _is_plain(value) or not any(is_generated(part[TEXT_KEY]) for part in parts):
            return []
        inside = list(self._within(place.start))
        listed = next(one for one in inside if one.name == PARTS_KEY)
        texts = [list(self._within(part.start)) for part in self._within(listed.start)]
        if len(inside) != len(value) or any(len(one) > 1 for one in texts):
            return []  # A member stands there twice.
        return [
            self._text_span(part[TEXT_KEY], text, number, at, layer)
            for at, (part, (text,)) in enumerate(zip(parts, texts, strict=True))
        ]

    def _text_span(self, text: str, place: Member, number: int, at: int, layer: Layer) -> _Span:
        """The span of a text without its quotes, as the texts of our own layers have it."""
        generated = is_generated(text)
        source = f"contents[{number}].parts[{at}]"
        where = Layer.DYNAMIC if generated else layer
        start, end = place.start + 1, place.end - 1
        return _Span(where, source, "user", TEXT_KIND, start, end, estimate(text), number, at)

    def _within(self, start: int) -> Iterator[Member]:
        """The members of the object or list that begins there."""
        text, at, count = self._text, _blank(self._text, start + 1), 0
        while text[at] not in "]}":
            name: Any = count
            if text[start] == "{":
                end = _decode(text, at)[1]
                name = wire.loads(text[at:end].encode("latin-1"))
                at = _blank(text, _blank(text, end) + 1)
            _, end = _decode(text, at)
            yield Member(name, at, end)
            at, count = _blank(text, end), count + 1
            if text[at] == ",":
                at = _blank(text, at + 1)


def _storable(name: str) -> str:
    """Without what no column takes: NUL, and half of a surrogate pair."""
    return wire.well_formed(name.replace("\0", ""))


def _blank(text: str, at: int) -> int:
    """The first place from there on that is no white space."""
    while text[at] in " \t\r\n":
        at += 1
    return at


def _is_plain(value: Any) -> bool:
    """Whether a content is a user's and has texts and nothing else, so that its texts say all of it."""
    if (
        not isinstance(value, Mapping)
        or not set(value) <= {"role", PARTS_KEY}
        or value.get("role", "user") != "user"
    ):
        return False
    parts, listed = parts_in(value), value.get(PARTS_KEY)
    return (
        isinstance(listed, list)
        and len(parts) == len(listed) > 0
        and all(set(part) == {TEXT_KEY} and isinstance(part[TEXT_KEY], str) for part in parts)
    )


def _kind(value: Any) -> TurnKind:
    parts = parts_in(value)
    if isinstance(value, Mapping) and value.get("role") == "model":
        return TurnKind.FUNCTION_CALLING if calls_of(parts) else TurnKind.MODEL_RESPONSE
    is_result = any(response_of(part) is not None for part in parts)
    return TurnKind.TOOL_RESPONSE if is_result else TurnKind.USER_TASK
