"""The input of a rendition: the manifest of one request, read back into its four layers."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from sessions_app.prompt import wire
from sessions_app.prompt.dialects.messages import FUNCTIONS, declarations_of
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.panels import CLOCK_KEY
from sessions_app.prompt.parts import PartView, parts_of
from sessions_app.prompt.payload import TOOLS_SOURCE, Payload
from sessions_app.prompt.provider_tools import SCHEMA_KEYS, Wish, has_answer_schema, own_tools, tool_config
from sessions_app.prompt.wire import as_objects


@dataclass(frozen=True, slots=True)
class OriginalEntry:
    """One item of a manifest. `wire` are its bytes in the body, sent or cached: text is JSON-escaped."""

    layer: Layer
    source: str
    wire: bytes


# No slots here: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class Original:
    """A request from its manifest; `tail` is the end of the body after the last content."""

    model: str
    entries: tuple[OriginalEntry, ...]
    tail: bytes

    @classmethod
    def of(cls, payload: Payload) -> Self:
        entries = (OriginalEntry(item.layer, item.source, item.wire) for item in payload.items)
        return cls(payload.model, tuple(entries), payload.tail)

    @property
    def static_wire(self) -> bytes:
        """The static text, JSON-escaped, without the tools."""
        return b"".join(entry.wire for entry in self._of(Layer.STATIC) if entry.source != TOOLS_SOURCE)

    @property
    def dynamic_wire(self) -> bytes:
        return b"".join(entry.wire for entry in self._of(Layer.DYNAMIC))

    @cached_property
    def static_text(self) -> str:
        return _unescaped(self.static_wire)

    @cached_property
    def dynamic_text(self) -> str:
        return _unescaped(self.dynamic_wire)

    @cached_property
    def panels(self) -> dict[str, Any]:
        """Panel key → value in the order sent, without the clock; text that is no object is one panel."""
        return {key: value for key, value in self._dynamic.items() if key != CLOCK_KEY}

    @property
    def clock(self) -> str:
        """The time of the dynamic layer as it was told; empty when it has none."""
        found = self._dynamic.get(CLOCK_KEY)
        return found if isinstance(found, str) else ""

    @cached_property
    def turns(self) -> tuple[bytes, ...]:
        """Buffered contents and the trigger, in the order sent."""
        return tuple(entry.wire for entry in self._of(Layer.BUFFERED, Layer.TRIGGER))

    @property
    def tools_wire(self) -> bytes:
        """`tools` as JSON; empty when there are none."""
        return b"".join(entry.wire for entry in self.entries if entry.source == TOOLS_SOURCE)

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """What a program sent in another shape than Gemini takes is none."""
        tools = as_objects(wire.loads(self.tools_wire)) if self.tools_wire else []
        return [
            {key: as_objects(value) if key in FUNCTIONS else value for key, value in tool.items()}
            for tool in tools
        ]

    @cached_property
    def end(self) -> dict[str, Any]:
        """The fields after the contents: `cachedContent` and `generationConfig`, where present."""
        fields: dict[str, Any] = wire.loads(b'{"contents":[' + self.tail) if self.tail else {}
        return fields

    @property
    def names_cache(self) -> bool:
        return bool(self.end.get("cachedContent"))

    @property
    def config(self) -> dict[str, Any]:
        found = self.end.get("generationConfig")
        return found if isinstance(found, dict) else {}

    @cached_property
    def _dynamic(self) -> dict[str, Any]:
        try:
            value = wire.loads(self.dynamic_text or "{}")
        except ValueError:
            value = self.dynamic_text
        return value if isinstance(value, dict) else {"dynamic": value}

    def _of(self, *layers: Layer) -> Iterable[OriginalEntry]:
        return (entry for entry in self.entries if entry.layer in layers)


def _unescaped(piece: bytes) -> str:
    text: str = wire.loads(b'"' + piece + b'"')
    return text


def inline_body(original: Original) -> bytes:
    """Gemini's request body, as `payload.assemble` writes it without a cache."""
    texts = b'"},{"text":"'.join(piece for piece in (original.static_wire, original.dynamic_wire) if piece)
    contents = (b'{"role":"user","parts":[{"text":"' + texts + b'"}]}', *original.turns)
    tools = b'"tools":' + original.tools_wire + b"," if original.tools_wire else b""
    return b"{" + tools + b'"contents":[' + b",".join(contents) + _uncached_tail(original)


def _uncached_tail(original: Original) -> bytes:
    named = original.end.get("cachedContent")
    if not named:
        return original.tail
    said = tool_config(declarations_of(original.tools), own_tools(original.tools))
    inline = b',"toolConfig":' + said if said else b""
    return original.tail.replace(b',"cachedContent":' + wire.dumps(named), inline, 1)


_IN_EVERY_RENDITION = {"contents", "generationConfig", "model", "cachedContent", "continuationToken"}
"""Members beside the prompt that are told, that name it, or that say where it goes on."""

THOUGHTS, SIGNATURES = "thoughts", "signatures"


def left_out(original: Original, told: Collection[str], *, tells_signatures: bool) -> tuple[str, ...]:
    """What of the request a rendition does not say that tells these members of the generation configuration:
    names of ProviderTool, a Wish, THOUGHTS, SIGNATURES, and members of the body as they are spelled.

    `tells_signatures`: of calls, and the last of the texts of a content.
    """
    own = own_tools(original.tools)
    declared = (key for tool in original.tools for key in tool if key not in FUNCTIONS)
    tools = (key for key in declared if not own_tools([{key: {}}]))
    schema = (Wish.SCHEMA.value,) if has_answer_schema(original.config) else ()
    config = original.config.keys() - told - (SCHEMA_KEYS if schema else set())
    beside = original.end.keys() - _IN_EVERY_RENDITION
    turns = _left_out_of_turns(original.turns, tells_signatures=tells_signatures)
    return (*own, *dict.fromkeys(tools), *schema, *turns, *sorted(config), *sorted(beside))


def _left_out_of_turns(turns: Iterable[bytes], *, tells_signatures: bool) -> Iterator[str]:
    contents = [parts_of(turn) for turn in turns]
    if any(view.kind == "thought" and view.text for views in contents for view in views):
        yield THOUGHTS
    if any(_loses_signatures(views, tells_signatures=tells_signatures) for views in contents):
        yield SIGNATURES


def _loses_signatures(views: Iterable[PartView], *, tells_signatures: bool) -> bool:
    kinds = [view.kind for view in views if view.signature is not None]
    if not tells_signatures:
        return bool(kinds)
    return kinds.count("text") > 1 or not {"text", "function_call"}.issuperset(kinds)
