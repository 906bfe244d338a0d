"""The payload: four layers as one request body, with a manifest of its bytes.

The body is joined from prebuilt bytes; turns are not serialised again. The manifest is complete:
`body == b"".join(item.lead + item.wire for sent items) + tail`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from google.genai import types

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import PromptError
from sessions_app.prompt import wire
from sessions_app.prompt.content_memory import remembered
from sessions_app.prompt.layers import Layer, Layers, Segment
from sessions_app.prompt.parts import raw_parts
from sessions_app.prompt.tokens import estimate, estimate_part
from sessions_app.prompt.turns import Turn, restore

TOOLS_SOURCE, SYSTEM_SOURCE = "tools", "system"
"""Names of sources: the declarations, and the system instruction of a captured request."""

_OPEN = b'"contents":[{"role":"user","parts":[{"text":"'
_NEXT_TEXT = b'"},{"text":"'
_CLOSE = b'"}]},'
_URL_SAFE = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class GenerationConfig:
    """None and the empty string mean the model's default."""

    temperature: float | None = None
    thinking_level: str = ""
    thinking_budget: int | None = None
    include_thoughts: bool = True
    max_output_tokens: int | None = None
    top_p: float | None = None
    answer_schema: Mapping[str, Any] | None = None

    def wire(self) -> bytes:
        """`generationConfig` as JSON, empty when nothing is set.

        Raises PromptError when thinking level and budget are both set: the provider takes only one.
        """
        if self.thinking_level and self.thinking_budget is not None:
            raise PromptError(RefusalCode.TWO_THINKING_SETTINGS)
        thinking = {
            "includeThoughts": self.include_thoughts or None,
            "thinkingLevel": self.thinking_level.upper() or None,
            "thinkingBudget": self.thinking_budget,
        }
        config = {
            "temperature": self.temperature,
            "topP": self.top_p,
            "maxOutputTokens": self.max_output_tokens,
            "responseMimeType": "application/json" if self.answer_schema is not None else None,
            "responseJsonSchema": self.answer_schema,
            "thinkingConfig": _present(thinking) or None,
        }
        return wire.dumps(_present(config)) if _present(config) else b""


class Item(NamedTuple):
    """One entry of the manifest: the bytes of one source.

    `wire` is the item in the body (text is escaped), `lead` the punctuation
    before it. `start` and `end` are the bytes of `wire` in the body; None when the item is not sent
    because it is cached. `content` and `part` are indices on the wire; `part` is None for a whole turn.
    """

    layer: Layer
    source: str
    role: str
    kind: str
    wire: bytes
    lead: bytes
    sha256: str
    tokens: int
    start: int | None = None
    end: int | None = None
    content: int | None = None
    part: int | None = None

    @property
    def is_sent(self) -> bool:
        return self.start is not None


def with_token(body: bytes, token: str) -> bytes:
    """A request, or its end, with the continuation token of its answer so far.

    The SDK's form: a top-level field in URL-safe base64 with padding, while answers have the standard
    alphabet (gemini-wire, "Bytes").
    """
    safe = token.translate(_URL_SAFE).rstrip("=")
    return body[:-1] + b',"continuationToken":' + wire.dumps(safe + "=" * (-len(safe) % 4)) + b"}"


# No slots here: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class Payload:
    """A request. `cached_content` is the cache's name, empty on a miss."""

    model: str
    items: tuple[Item, ...]
    body: bytes
    tail: bytes
    cached_content: str = ""

    @cached_property
    def sha256(self) -> str:
        return sha256(self.body).hexdigest()

    def continued(self, token: str) -> "Payload":
        """The same request with the continuation token of its answer so far."""
        tail = with_token(self.tail, token)
        return replace(self, body=self.body[: -len(self.tail)] + tail, tail=tail)

    def tokens(self, layer: Layer | None = None) -> int:
        """Estimated tokens of one layer, or of everything, cached items included."""
        return sum(item.tokens for item in self.items if layer is None or item.layer == layer)

    def contents(self) -> list[str | types.Content]:
        """The seed's list for the SDK: `str, str, Content…` on a miss, `str, Content…` on a hit."""
        texts = [self._text(Layer.STATIC), self._text(Layer.DYNAMIC)]
        turns = [item for item in self.items if item.layer in (Layer.BUFFERED, Layer.TRIGGER)]
        return [*texts[bool(self.cached_content) :], *(restore(item.wire) for item in turns)]

    def _text(self, layer: Layer) -> str:
        pieces = (item.wire for item in self.items if item.layer == layer and item.source != TOOLS_SOURCE)
        text: str = wire.loads(b'"' + b"".join(pieces) + b'"')
        return text


def assemble(layers: Layers, config: GenerationConfig, *, model: str, cached_content: str = "") -> Payload:
    """Join the layers into the body of one request.

    On a hit (`cached_content` set) static text and tools are listed but not sent, nor is their configuration:
    the provider refuses them beside a cache (gemini-wire §5.3).
    """
    body = _Body(is_hit=bool(cached_content))
    body.add_tools(layers.declarations)
    body.add_text(Layer.STATIC, layers.static)
    body.add_text(Layer.DYNAMIC, layers.dynamic)
    body.add_turns(Layer.BUFFERED, layers.buffered)
    body.add_turns(Layer.TRIGGER, (layers.trigger,))
    tail = _tail(config, cached_content, layers.tool_config)
    return Payload(model, tuple(body.items), b"".join((*body.pieces, tail)), tail, cached_content)


def cacheable(layers: Layers) -> bytes:
    """What an explicit cache holds, as JSON fields: `contents` (the static text, as user), `tools` and
    `toolConfig`.
    """
    text = b"".join(segment.wire for segment in layers.static)
    tools = b',"tools":' + layers.declarations if layers.declarations else b""
    return b"{" + _OPEN + text + b'"}]}]' + tools + _tool_config(layers.tool_config) + b"}"


def static_tokens(layers: Layers) -> int:
    """Estimated tokens of what an explicit cache would hold."""
    return sum(segment.tokens for segment in layers.static) + estimate(layers.declarations)


class _Body:
    """Collects the items and pieces of a body and keeps its length."""

    def __init__(self, *, is_hit: bool) -> None:
        self.items: list[Item] = []
        self.pieces: list[bytes] = []
        self._is_hit = is_hit
        self._at = 0
        self._content = 0
        self._part = 0

    def add_tools(self, declarations: bytes) -> None:
        if declarations:
            lead, start, end = self._write(Layer.STATIC, b'{"tools":', declarations)
            fields = (TOOLS_SOURCE, "user", "declarations", declarations, lead)
            tokens, digest = estimate(declarations), sha256(declarations).hexdigest()
            self.items.append(Item(Layer.STATIC, *fields, digest, tokens, start, end))

    def add_text(self, layer: Layer, segments: Iterable[Segment]) -> None:
        lead = self._text_lead()
        place = (self._content, self._part) if self._sends(layer) else (None, None)
        for segment in segments:
            sent, start, end = self._write(layer, lead, segment.wire)
            fields = (segment.source, "user", "text", segment.wire, sent)
            self.items.append(Item(layer, *fields, segment.sha256, segment.tokens, start, end, *place))
            lead = b""
        self._part += self._sends(layer)

    def add_turns(self, layer: Layer, turns: Sequence[Turn]) -> None:
        measured = _measured.of_all([turn.wire for turn in turns])
        for turn, (digest, tokens) in zip(turns, measured, strict=True):
            lead, start, end = self._write(layer, b"," if self._content else _CLOSE, turn.wire)
            self._content += 1
            fields = (f"turn:{turn.key}", turn.kind.role, str(turn.kind), turn.wire, lead)
            self.items.append(Item(layer, *fields, digest, tokens, start, end, self._content))

    def _text_lead(self) -> bytes:
        if self._part:
            return _NEXT_TEXT
        return (b"," if self._at else b"{") + _OPEN

    def _sends(self, layer: Layer) -> bool:
        return not (self._is_hit and layer == Layer.STATIC)

    def _write(self, layer: Layer, lead: bytes, body: bytes) -> tuple[bytes, int | None, int | None]:
        """Append the bytes unless the layer is cached; returns lead, start, end."""
        if not self._sends(layer):
            return b"", None, None
        start = self._at + len(lead)
        self._at = start + len(body)
        self.pieces += (lead, body)
        return lead, start, self._at


@remembered
def _measured(content: bytes) -> tuple[str, int]:
    """The sha256 of a content, and its estimated tokens."""
    return sha256(content).hexdigest(), sum(map(estimate_part, raw_parts(content)))


def _tail(config: GenerationConfig, cached_content: str, tool_config: bytes) -> bytes:
    generation = config.wire()
    before = (
        b',"cachedContent":' + wire.dumps(cached_content) if cached_content else _tool_config(tool_config)
    )
    return b"]" + before + (b',"generationConfig":' + generation if generation else b"") + b"}"


def _tool_config(tool_config: bytes) -> bytes:
    return b',"toolConfig":' + tool_config if tool_config else b""


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
