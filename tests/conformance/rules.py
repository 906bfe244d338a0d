"""The shape of an answer: everything about it but the words.

An Answer is a status and its JSON objects. Each rule is a function from an Answer to something
comparable, or None where the rule says nothing about that answer. Two answers agree on a rule
when both give the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Wire = dict[str, Any]

TOLERATED = frozenset({"serviceTier", "id", "avgLogprobs"})
"""Keys that come and go by date or model: recorded-traffic "Usage" and naive-parser note 9."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`chunks` are the events of a stream or the one object of a unary answer. `keeps_order` is
    False when whoever recorded it sorted the keys; `names_cache` when the request asked for an
    explicit cache, since an implicit hit is luck."""

    status: int
    chunks: tuple[Wire, ...]
    keeps_order: bool = True
    names_cache: bool = False

    @property
    def is_reply(self) -> bool:
        return self.status == 200 and "usageMetadata" in self.chunks[-1] and "responseId" in self.chunks[-1]

    @property
    def parts(self) -> list[Wire]:
        return [part for chunk in self.chunks for part in parts_of(chunk)]


def parts_of(chunk: Wire) -> list[Wire]:
    candidates = chunk.get("candidates") or [{}]
    found: list[Wire] = candidates[0].get("content", {}).get("parts", [])
    return found


def kind_of(part: Wire) -> str:
    """`thought`, `text`, `empty text`, or the key that holds the data."""
    if "text" in part:
        return "thought" if part.get("thought") else "text" if part["text"] else "empty text"
    return next((key for key in part if key not in {"thoughtSignature", "thought"}), "signature alone")


def keys_of(value: Wire, answer: Answer) -> tuple[str, ...]:
    keys = [key for key in value if key not in TOLERATED]
    return tuple(keys if answer.keeps_order else sorted(keys))


def status(answer: Answer) -> Any:
    return answer.status


def error_body(answer: Answer) -> Any:
    """The whole error but its help texts, which the provider reworded over the years."""
    if answer.status == 200:
        return None
    error = answer.chunks[0]["error"]
    kinds = [detail["@type"] for detail in error.get("details", [])]
    return error["code"], error["status"], newest_wording(error["message"]), kinds


def newest_wording(message: str) -> str:
    return message.replace("Call ListModels", "Call ModelService.ListModels")


def envelope(answer: Answer) -> Any:
    """Top-level keys, runs of equal chunks once."""
    if answer.status != 200:
        return None
    return [keys for keys, _ in groupby(keys_of(chunk, answer) for chunk in answer.chunks)]


def candidate_keys(answer: Answer) -> Any:
    if not answer.is_reply:
        return None
    found = (keys_of(each, answer) for chunk in answer.chunks for each in chunk.get("candidates", []))
    return [keys for keys, _ in groupby(found)]


def content_keys(answer: Answer) -> Any:
    if not answer.is_reply:
        return None
    found = (each.get("content") for chunk in answer.chunks for each in chunk.get("candidates", []))
    return [keys for keys, _ in groupby(None if one is None else keys_of(one, answer) for one in found)]


def part_kinds(answer: Answer) -> Any:
    """Kinds in order, runs of text and of thoughts once, calls one by one."""
    if not answer.is_reply:
        return None
    kinds = [kind_of(part) for part in answer.parts]
    return [kind for kind, run in groupby(kinds) for _ in (run if kind == "functionCall" else [0])]


def call_keys(answer: Answer) -> Any:
    calls = [part["functionCall"] for part in answer.parts if "functionCall" in part]
    return [sorted(keys_of(call, answer)) for call in calls] if calls else None


def calls_per_chunk(answer: Answer) -> Any:
    """How many calls each chunk brings."""
    counts = [sum("functionCall" in part for part in parts_of(chunk)) for chunk in answer.chunks]
    return [count for count in counts if count] or None


def signatures(answer: Answer) -> Any:
    """What the signed parts are, and where: `first` or `last` of their kind, in the last chunk or not."""
    return list(_signed(answer)) if answer.is_reply else None


def _signed(answer: Answer) -> Iterator[tuple[str, str]]:
    final = parts_of(answer.chunks[-1])
    for part in answer.parts:
        if "thoughtSignature" in part:
            alike = [one for one in answer.parts if kind_of(one) == kind_of(part)]
            place = "first" if alike[0] is part else "later"
            yield kind_of(part), f"{place}, {'last chunk' if any(one is part for one in final) else 'before'}"


def finish_reasons(answer: Answer) -> Any:
    """One a chunk without repetition: nothing until the last."""
    if not answer.is_reply:
        return None
    found = (each.get("finishReason", "") for chunk in answer.chunks for each in chunk.get("candidates", []))
    return [reason for reason, _ in groupby(found)]


def finish_message(answer: Answer) -> Any:
    candidates = answer.chunks[-1].get("candidates") or [{}]
    return candidates[0].get("finishMessage", "") if answer.is_reply else None


def usage_fields(answer: Answer) -> Any:
    """Of the last chunk, without those of an implicit hit."""
    if not answer.is_reply:
        return None
    luck = frozenset() if answer.names_cache else _CACHED
    return [key for key in keys_of(answer.chunks[-1]["usageMetadata"], answer) if key not in luck]


_CACHED = frozenset({"cachedContentTokenCount", "cacheTokensDetails"})


def usage_adds_up(answer: Answer) -> Any:
    return all(_adds_up(chunk["usageMetadata"]) for chunk in answer.chunks) if answer.is_reply else None


def _adds_up(usage: Wire) -> bool:
    counted = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
    return bool(usage["totalTokenCount"] == sum(usage.get(name, 0) for name in counted))


def one_response_id(answer: Answer) -> Any:
    return len({chunk["responseId"] for chunk in answer.chunks}) == 1 if answer.is_reply else None


def prompt_jump(answer: Answer) -> Any:
    """Whether the prompt count grows in the last chunk: restored thoughts."""
    if not answer.is_reply or len(answer.chunks) < 2:
        return None
    counts = [chunk["usageMetadata"]["promptTokenCount"] for chunk in answer.chunks]
    return counts[-1] > counts[0], len(set(counts[:-1])) == 1


RULES: dict[str, Callable[[Answer], Any]] = {
    "status": status,
    "error body": error_body,
    "envelope keys": envelope,
    "candidate keys": candidate_keys,
    "content keys": content_keys,
    "part kinds and order": part_kinds,
    "function call keys": call_keys,
    "calls per chunk": calls_per_chunk,
    "signature positions": signatures,
    "finish reasons": finish_reasons,
    "finish message": finish_message,
    "usage fields": usage_fields,
    "usage adds up": usage_adds_up,
    "one response id": one_response_id,
    "prompt jumps in the last chunk": prompt_jump,
}
