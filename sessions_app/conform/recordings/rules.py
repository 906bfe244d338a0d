"""The shape of an answer: everything about it but the words.

An Answer is a status and its JSON objects. Each rule is a function from an Answer to something
comparable, or None where the rule says nothing about that answer. Two answers agree on a rule
when both give the same.
"""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Wire = dict[str, Any]

TOLERATED = frozenset({"avgLogprobs"})
"""Keys that 2.0 and older add by chance."""
DATED = frozenset({"serviceTier", "id", "turnToken", "rawPromptTokenCount"})
"""Keys that began on a day: nothing is said of them where the day of a recording is unknown."""


@dataclass(frozen=True, slots=True)
class ReturnedSteps:
    """The steps of the current turn whose signatures a request returns. `thoughts` are those of all of them,
    `total` is the count of the newest, its prompt included."""

    count: int
    thoughts: int
    total: int


@dataclass(frozen=True, slots=True)
class Answer:
    """`chunks` are the events of a stream or the one object of a unary answer. `keeps_order` is
    False when whoever recorded it sorted the keys; `names_cache` when the request asked for an
    explicit cache, since an implicit hit is luck; `is_dated` when the day of the recording is known.
    `returned` is None where the earlier answers of its turn are not of the same conversation."""

    status: int
    chunks: tuple[Wire, ...]
    keeps_order: bool = True
    names_cache: bool = False
    is_dated: bool = True
    returned: ReturnedSteps | None = None

    @property
    def is_reply(self) -> bool:
        last = self.chunks[-1]
        return self.status == 200 and "usageMetadata" in last and not {"name", "error"} & last.keys()

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
    ignored = TOLERATED if answer.is_dated else TOLERATED | DATED
    keys = [key for key in value if key not in ignored]
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
    """The fields of the usage in the last chunk, without those of an implicit hit."""
    if not answer.is_reply:
        return None
    luck = frozenset() if answer.names_cache else _CACHED
    return [key for key in keys_of(answer.chunks[-1]["usageMetadata"], answer) if key not in luck]


_CACHED = frozenset({"cachedContentTokenCount", "cacheTokensDetails"})


def usage_adds_up(answer: Answer) -> Any:
    if not answer.is_reply:
        return None
    return ["usageMetadata" in chunk and _adds_up(chunk["usageMetadata"]) for chunk in answer.chunks].count(
        False
    )


def _adds_up(usage: Wire) -> bool:
    counted = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
    return bool(usage.get("totalTokenCount", 0) == sum(usage.get(name, 0) for name in counted))


def thoughts_counted(answer: Answer) -> Any:
    """For each chunk with a thought, whether its usage counts thoughts."""
    return [
        "thoughtsTokenCount" in chunk.get("usageMetadata", {})
        for chunk in answer.chunks[:-1]
        if any(kind_of(part) == "thought" for part in parts_of(chunk))
    ] or None


def whole_numbers(answer: Answer) -> Any:
    """Whether every figure of the usage and every index is a whole number."""
    if not answer.is_reply:
        return None
    figures = [value for chunk in answer.chunks for value in chunk.get("usageMetadata", {}).values()]
    figures += [each.get("index", 0) for chunk in answer.chunks for each in chunk.get("candidates", [])]
    return all(type(value) is int for value in figures if not isinstance(value, str | list))


def response_ids(answer: Answer) -> Any:
    """How many there are, and whether each is 20 to 24 URL-safe characters."""
    if not answer.is_reply or not (found := {chunk.get("responseId") for chunk in answer.chunks} - {None}):
        return None
    return len(found), all(re.fullmatch("[A-Za-z0-9_-]{20,24}", str(one)) for one in found)


def turn_tokens(answer: Answer) -> Any:
    """Whether each holds the id of its answer twice, as the last key."""
    found = [chunk for chunk in answer.chunks if "turnToken" in chunk]
    if not found:
        return None
    return all(list(chunk)[-1] == "turnToken" and _holds_id_twice(chunk) for chunk in found)


def _holds_id_twice(chunk: Wire) -> bool:
    version, _, text = str(chunk["turnToken"]).partition("_")
    identity = str(chunk.get("responseId", "")).encode()
    field = bytes((len(identity),)) + identity
    wanted = base64.urlsafe_b64encode(b"\x0a" + field + b"\x12" + field).decode().rstrip("=")
    return version == "v1" and text.rstrip("=") == wanted


def prompt_jump(answer: Answer) -> Any:
    """Whether the prompt count grows in the last chunk: restored thoughts."""
    if not answer.is_reply or len(answer.chunks) < 2:
        return None
    counts = [chunk.get("usageMetadata", {}).get("promptTokenCount", 0) for chunk in answer.chunks]
    return counts[-1] > counts[0], len(set(counts[:-1])) == 1


def restored_thoughts(answer: Answer) -> Any:
    """Whether the prompt grows by the thoughts of all returned steps. Of an answer without a stream, whether
    its prompt has room for everything that the newest of several steps counted: were the thoughts of the
    steps before it left out, it would not."""
    if answer.returned is None or not answer.is_reply:
        return None
    counts = [chunk.get("usageMetadata", {}).get("promptTokenCount", 0) for chunk in answer.chunks]
    if len(counts) > 1:
        return counts[-1] - counts[0] == answer.returned.thoughts
    return counts[0] >= answer.returned.total if answer.returned.count > 1 else None


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
    "response ids": response_ids,
    "turn tokens": turn_tokens,
    "thoughts counted while thinking": thoughts_counted,
    "whole numbers": whole_numbers,
    "prompt jumps in the last chunk": prompt_jump,
    "thoughts of all steps in prompt": restored_thoughts,
}
