"""What was said in an interaction of another program (Gemini's Interactions API): its steps, to be read by a
person. Who speaks is told by the type of a step.

Whatever the bodies hold, nothing is refused: what is no step is left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.chunks import Usage, as_count
from sessions_app.prompt.dialects.conversation import (
    SIGNED,
    Conversation,
    SaidMessage,
    joined,
    object_in,
    texts_in,
)
from sessions_app.prompt.wire import as_dict, as_list

Wire = dict[str, Any]

OBJECT = "interaction"

_INSTRUCTION, _INPUT = "system_instruction", "user_input"
_CONTENTS = frozenset({"text", "image", "audio", "video", "document"})
_COUNTS = {
    "promptTokenCount": "total_input_tokens",
    "cachedContentTokenCount": "total_cached_tokens",
    "candidatesTokenCount": "total_output_tokens",
    "thoughtsTokenCount": "total_thought_tokens",
    "toolUsePromptTokenCount": "total_tool_use_tokens",
    "totalTokenCount": "total_tokens",
}

_MODALITIES = {
    "promptTokensDetails": "input_tokens_by_modality",
    "cacheTokensDetails": "cached_tokens_by_modality",
    "candidatesTokensDetails": "output_tokens_by_modality",
    "toolUsePromptTokensDetails": "tool_use_tokens_by_modality",
}

_SEARCH = "google_search"
"""The type of the provider's searches in `grounding_tool_count`."""


def interaction_in(request: bytes, chunks: Iterable[bytes]) -> Conversation | None:
    """`chunks` are those of the answer, whole or as events; a stored interaction is asked for without a body.

    None where neither is an interaction.
    """
    asked, answer = object_in(request), _Answer()
    for chunk in chunks:
        answer.take(object_in(chunk))
    steps = [*_asked_steps(asked), *answer.steps()]
    facts = answer.facts
    if not ("input" in asked or facts or answer.refusal):
        return None
    said = tuple(message for step in steps if (message := _said(step)).text)
    counts = as_dict(facts.get("usage"))
    return Conversation(
        _text(asked, "model") or _text(asked, "agent") or _text(facts, "model") or _text(facts, "agent"),
        said,
        _usage(counts, _text(facts, "service_tier")),
        answer.refusal,
        _text(facts, "model"),
        _text(facts, "id"),
        _text(facts, "status"),
        _text(asked, "previous_interaction_id") or _text(facts, "previous_interaction_id"),
        _searches(counts),
    )


@dataclass
class _Answer:
    """An interaction as far as it came. `facts` are the members of its object, each as it was told last."""

    facts: Wire = field(default_factory=dict)
    refusal: str = ""
    _begun: dict[int, Wire] = field(default_factory=dict)
    _deltas: dict[int, list[Wire]] = field(default_factory=dict)

    def take(self, event: Wire) -> None:
        """An event of a stream, or a whole answer."""
        whole = event if event.get("object") == OBJECT else as_dict(event.get("interaction"))
        self.facts |= whole
        self._begun |= dict(enumerate(map(as_dict, as_list(whole.get("steps")))))
        for error in (event.get("error"), *as_list(whole.get("errors"))):
            self.refusal = _text(as_dict(error), "message") or self.refusal
        index = event.get("index")
        if not isinstance(index, int):
            return
        if "step" in event:
            self._begun[index] = as_dict(event["step"])
        if "delta" in event:
            self._deltas.setdefault(index, []).append(as_dict(event["delta"]))

    def steps(self) -> Iterator[Wire]:
        for at in sorted(self._begun | self._deltas):
            yield _completed(self._begun.get(at, {}), self._deltas.get(at, ()))


def _completed(begun: Wire, deltas: Sequence[Wire]) -> Wire:
    """A step with what its deltas brought: texts and arguments in pieces, or what it lacked."""
    step = dict(begun)
    for kind, run in groupby(deltas, key=lambda delta: _text(delta, "type")):
        found = list(run)
        if kind == "thought_summary":
            step["summary"] = _longer(step.get("summary"), [as_dict(one.get("content")) for one in found])
        elif kind == "text":
            step["content"] = _longer(step.get("content"), found)
        elif kind in _CONTENTS:
            step["content"] = [*as_list(step.get("content")), *found]
        elif kind == "arguments_delta":
            step["arguments"] = "".join(_text(one, "arguments") for one in found)
        elif kind == "thought_signature":
            step["signature"] = found[-1].get("signature")
        elif kind == step.get("type"):
            step |= found[-1]
    return step


def _longer(contents: Any, pieces: Sequence[Wire]) -> list[Any]:
    """The pieces go on from a text that stands before them."""
    before = as_list(contents)
    last = _text(as_dict(before[-1]), "text") if before else ""
    text = last + "".join(_text(piece, "text") for piece in pieces)
    return [*(before[:-1] if last else before), {"type": "text", "text": text}]


def _asked_steps(asked: Wire) -> Iterator[Wire]:
    """The input is a text, a content, contents or steps; contents in a row are one step of the user."""
    if instruction := asked.get(_INSTRUCTION):
        yield {"type": _INSTRUCTION, "content": instruction}
    given = asked.get("input")
    contents: list[Any] = []
    for one in given if isinstance(given, list) else [given]:
        if not isinstance(one, dict) or _text(one, "type") in _CONTENTS:
            contents.append(one)
            continue
        yield {"type": _INPUT, "content": contents}
        contents = []
        yield one
    yield {"type": _INPUT, "content": contents}


def _said(step: Wire) -> SaidMessage:
    lines = ["".join(texts_in(step.get("summary"))), *texts_in(step.get("content"))]
    name, arguments, result = _text(step, "name"), step.get("arguments"), step.get("result")
    if arguments is not None:
        lines.append(f"{name}({_told(arguments)})")
    if result is not None:
        told = _told(result)
        lines.append(f"{name}: {told}" if name else told)
    if step.get("signature"):
        lines.append(SIGNED)
    return SaidMessage(str(step.get("type") or step.get("role") or ""), joined(lines))


def _told(value: Any) -> str:
    """Contents by their texts, anything else as JSON."""
    is_contents = isinstance(value, list) and any(_text(as_dict(one), "type") in _CONTENTS for one in value)
    if isinstance(value, str) or is_contents:
        return joined(texts_in(value))
    return wire.dumps(value).decode()


def _usage(counts: Wire, tier: str) -> Usage:
    """In Gemini's form; a count that is missing is not 0."""
    found = {name: counts.get(given) for name, given in _COUNTS.items() if given in counts}
    kinds = {name: _by_modality(counts[given]) for name, given in _MODALITIES.items() if given in counts}
    return Usage.of(found | kinds | ({"serviceTier": tier} if tier else {}))


def _by_modality(details: Any) -> list[Wire]:
    return [
        {"modality": _text(one, "modality"), "tokenCount": one.get("tokens")}
        for one in map(as_dict, as_list(details))
    ]


def _searches(counts: Wire) -> int:
    used = map(as_dict, as_list(counts.get("grounding_tool_count")))
    return sum(as_count(one.get("count")) or 0 for one in used if _text(one, "type") == _SEARCH)


def _text(value: Wire, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
