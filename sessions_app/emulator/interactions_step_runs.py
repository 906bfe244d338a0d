"""A step as a stream sends it: how it begins, and the deltas that complete it.

Folded, they are the whole step, so that a stream and a unary answer say the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import orjson

from sessions_app.emulator.wire_model import JsonObject

_ADDED = frozenset({"signature", "is_error"})


@dataclass(frozen=True, slots=True)
class StepRun:
    """`start` is the step as `step.start` shows it, `deltas` what is added."""

    start: JsonObject
    deltas: Sequence[JsonObject] = ()

    @property
    def step(self) -> JsonObject:
        """The whole step. A delta of the provider's own tools fills fields of the step."""
        match self.start["type"]:
            case "thought":
                return self.start | _signature_of(self.deltas) | _summary_of(self.deltas)
            case "model_output":
                return self.start | {"content": _contents_of(self.deltas)}
            case "function_call":
                text = "".join(delta["arguments"] for delta in self.deltas)
                return self.start | {"arguments": orjson.loads(text)}
        filled = {key: value for delta in self.deltas for key, value in delta.items()}
        return {
            key: filled.get(key, self.start.get(key)) for key in (*self.start, *sorted(_ADDED & set(filled)))
        }


def thought_run(summaries: Sequence[str], signature: str) -> StepRun:
    """The signature is the last delta."""
    deltas: list[JsonObject] = [
        {"content": {"text": text, "type": "text"}, "type": "thought_summary"} for text in summaries
    ]
    if signature:
        deltas.append({"signature": signature, "type": "thought_signature"})
    return StepRun({"type": "thought"}, deltas)


def function_call_run(start: JsonObject, arguments: JsonObject, *, splits_arguments: bool) -> StepRun:
    """The arguments are one JSON text, whole or in two pieces."""
    text = orjson.dumps(arguments).decode()
    middle = len(text) // 2 if splits_arguments else 0
    pieces = [piece for piece in (text[:middle], text[middle:]) if piece]
    return StepRun(start, [{"arguments": piece, "type": "arguments_delta"} for piece in pieces])


def _contents_of(deltas: Sequence[JsonObject]) -> list[JsonObject]:
    """Texts in a row are one content; annotations belong to the text before them."""
    contents: list[JsonObject] = []
    for kind, run in groupby(deltas, key=lambda delta: delta["type"]):
        if kind == "text":
            contents.append({"type": "text", "text": "".join(delta["text"] for delta in run)})
        elif kind == "text_annotation_delta":
            contents[-1]["annotations"] = [each for delta in run for each in delta["annotations"]]
        else:
            contents += run
    return contents


def _signature_of(deltas: Sequence[JsonObject]) -> JsonObject:
    return next(({"signature": delta["signature"]} for delta in deltas if "signature" in delta), {})


def _summary_of(deltas: Sequence[JsonObject]) -> JsonObject:
    summary = [delta["content"] for delta in deltas if "content" in delta]
    return {"summary": summary} if summary else {}
