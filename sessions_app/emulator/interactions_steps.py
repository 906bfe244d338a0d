"""From the objects of a Gemini answer to an interaction's steps, status and usage.

The signature of a call or a text stands on a thought step before all else. Steps of the provider's own
tools keep theirs, and so does a call whose signature is not the first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sessions_app.emulator.interactions_errors import InteractionError, blocked, is_failure
from sessions_app.emulator.interactions_step_runs import StepRun, function_call_run, thought_run
from sessions_app.emulator.interactions_tools import (
    annotations,
    is_tool_part,
    metadata_runs,
    opens_call,
    tool_run,
)
from sessions_app.emulator.resource_store import resource_name
from sessions_app.emulator.wire_enums import BLOCK_REASONS, FINISH_REASONS, MODALITIES, name_of
from sessions_app.emulator.wire_model import JsonObject

_CALL_ID = 8


@dataclass(frozen=True, slots=True)
class InteractionAnswer:
    """What a model's answer makes of an interaction. `token` continues a paused one; `failure` stopped it.
    `is_whole` is False for a stream that ended without saying why."""

    runs: tuple[StepRun, ...] = ()
    status: str = "completed"
    usage: JsonObject | None = None
    token: str = ""
    failure: InteractionError | None = None
    is_whole: bool = True

    @property
    def steps(self) -> list[JsonObject]:
        return [run.step for run in self.runs]


def read_answer(chunks: Sequence[JsonObject], *, splits_arguments: bool = False) -> InteractionAnswer:
    """`chunks` are GenerateContentResponse objects: a stream's, or the one of a unary answer."""
    last = chunks[-1]
    candidate = _merged([(chunk.get("candidates") or [{}])[0] for chunk in chunks])
    finish = name_of(candidate.get("finishReason", ""), FINISH_REASONS)
    reason = name_of(last.get("promptFeedback", {}).get("blockReason", ""), BLOCK_REASONS) or finish
    failure = blocked(reason, candidate.get("finishMessage", "")) if is_failure(reason) else None
    reader = _StepReader(candidate, last.get("responseId", ""), splits_arguments)
    has_calls = any("functionCall" in part for part in reader.parts)
    return InteractionAnswer(
        runs=tuple(reader.runs()),
        status="failed" if failure else _status(reason, has_calls=has_calls),
        usage=usage(last.get("usageMetadata", {})),
        token=candidate.get("continuationToken", ""),
        failure=failure,
        is_whole=bool(reason),
    )


def usage(counts: JsonObject) -> JsonObject:
    """`total_tokens` = input + output + thoughts; the input includes what was cached."""
    cached = counts.get("cachedContentTokenCount", 0)
    read: JsonObject = {
        "total_tokens": counts.get("totalTokenCount", 0),
        "total_input_tokens": counts.get("promptTokenCount", 0),
        "input_tokens_by_modality": _by_modality(counts.get("promptTokensDetails", ())),
        "total_cached_tokens": cached,
    }
    if cached:
        read["cached_tokens_by_modality"] = _by_modality(counts.get("cacheTokensDetails", ()))
    return read | {
        "total_output_tokens": counts.get("candidatesTokenCount", 0),
        "total_tool_use_tokens": counts.get("toolUsePromptTokenCount", 0),
        "total_thought_tokens": counts.get("thoughtsTokenCount", 0),
    }


@dataclass(frozen=True, slots=True)
class _StepReader:
    """Reads the steps of one candidate, whose parts are those of all chunks."""

    candidate: JsonObject
    response_id: str
    splits_arguments: bool

    @property
    def parts(self) -> list[JsonObject]:
        found: list[JsonObject] = self.candidate["parts"]
        return found

    def runs(self) -> Iterator[StepRun]:
        summaries = [part["text"] for part in self.parts if part.get("thought")]
        signed = [part for part in self.parts if "thoughtSignature" in part and not is_tool_part(part)]
        if summaries or signed:
            yield thought_run(summaries, signed[0]["thoughtSignature"] if signed else "")
        yield from self._said([part for part in signed[:1] if "functionCall" in part])
        if not any("toolCall" in part for part in self.parts):
            yield from metadata_runs(self.candidate, self._made_id(0))

    def _said(self, spoken_for: Sequence[JsonObject]) -> Iterator[StepRun]:
        """The signature of a call that is `spoken_for` stands on the thought step."""
        said = [part for part in self.parts if not part.get("thought") and part.get("text") != ""]
        groups = [(kind, list(run)) for kind, run in groupby(said, key=_kind)]
        last_output = max((at for at, (kind, _) in enumerate(groups) if kind == "output"), default=-1)
        count = 0
        for at, (kind, run) in enumerate(groups):
            if kind == "output":
                yield self._output(run, is_last=at == last_output)
                continue
            for part in run:
                count += kind == "call" or opens_call(part)
                made_id = self._made_id(count)
                is_signed = part not in spoken_for
                yield tool_run(part, made_id) if kind == "tool" else self._call(part, made_id, is_signed)

    def _output(self, parts: Sequence[JsonObject], *, is_last: bool) -> StepRun:
        """The last output has the citations of the whole text."""
        deltas = [_content(part) for part in parts]
        cited = annotations(self.candidate) if is_last else []
        if cited and deltas[-1]["type"] == "text":
            deltas.append({"type": "text_annotation_delta", "annotations": cited})
        return StepRun({"type": "model_output"}, deltas)

    def _call(self, part: JsonObject, made_id: str, is_signed: bool) -> StepRun:
        call = part["functionCall"]
        start = {"type": "function_call", "id": call.get("id") or made_id, "name": call.get("name", "")}
        start["arguments"] = {}
        if is_signed and "thoughtSignature" in part:
            start["signature"] = part["thoughtSignature"]
        return function_call_run(start, call.get("args", {}), splits_arguments=self.splits_arguments)

    def _made_id(self, number: int) -> str:
        return resource_name(f"{self.response_id} {number}", _CALL_ID)


def _merged(candidates: Sequence[JsonObject]) -> JsonObject:
    """One candidate: `parts` of all of them, and the last of everything else that says something."""
    parts = [part for candidate in candidates for part in candidate.get("content", {}).get("parts", [])]
    merged: JsonObject = {}
    for candidate in candidates:
        merged |= {key: value for key, value in candidate.items() if value}
    return merged | {"parts": parts}


def _kind(part: JsonObject) -> str:
    if is_tool_part(part):
        return "tool"
    return "call" if "functionCall" in part else "output"


def _content(part: JsonObject) -> JsonObject:
    """A text, or made media, as content and as delta alike."""
    if "text" in part:
        return {"text": part["text"], "type": "text"}
    media = part.get("inlineData", {})
    kind = media.get("mimeType", "").partition("/")[0]
    return {"data": media.get("data", ""), "mime_type": media.get("mimeType", ""), "type": kind}


def _by_modality(details: Sequence[JsonObject]) -> list[JsonObject]:
    return [
        {"modality": name_of(each["modality"], MODALITIES).lower(), "tokens": each["tokenCount"]}
        for each in details
    ]


def _status(reason: str, *, has_calls: bool) -> str:
    if reason == "CONTINUATION":
        return "requires_continuation"
    if reason != "STOP":
        return "incomplete"
    return "requires_action" if has_calls else "completed"
