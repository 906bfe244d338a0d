"""The figures of an answer, read from the bytes of its chunks."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

LARGEST = 2**31 - 1
"""Counts above it, below 0 or of another type are no counts."""


FINISHED = {
    0: "", 1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER", 6: "LANGUAGE",
    7: "BLOCKLIST", 8: "PROHIBITED_CONTENT", 9: "SPII", 10: "MALFORMED_FUNCTION_CALL", 11: "IMAGE_SAFETY",
    12: "UNEXPECTED_TOOL_CALL", 13: "TOO_MANY_TOOL_CALLS",
}  # fmt: skip
BLOCKED = {0: "", 1: "SAFETY", 2: "OTHER", 3: "BLOCKLIST", 4: "PROHIBITED_CONTENT", 5: "IMAGE_SAFETY"}
"""Reasons by their numbers in google.ai.generativelanguage (`Candidate`, `PromptFeedback`)."""


@dataclass(slots=True)
class Answer:
    """What the chunks of one exchange say; the last one that says something holds."""

    usage: dict[str, Any] = field(default_factory=dict)
    finish_reason: str = ""
    model: str = ""
    response_id: str = ""
    has_parts: bool = False
    is_blocked: bool = False
    """The provider refused the prompt: such an answer has no finish reason."""
    queries: set[str] = field(default_factory=set)
    """What the provider searched for, without empty ones."""
    kept_searches: int | None = None
    """Number of searches of an answer whose chunks are gone."""

    @property
    def searches(self) -> int:
        return len(self.queries) if self.kept_searches is None else self.kept_searches

    @property
    def is_counted(self) -> bool:
        """Whether the provider says how much it read."""
        return is_count(self.usage.get("promptTokenCount"))

    def count(self, name: str) -> int:
        value = self.usage.get(name)
        return int(value) if value is not None and is_count(value) else 0


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _rank(usage: dict[str, Any]) -> int:
    """The newest of the highest rank counts: one with a total, one with a prompt; else the first of any. A
    chunk of Vertex may hold nothing but its traffic type.
    """
    if not usage:
        return 0
    return 3 if "totalTokenCount" in usage else 2 if "promptTokenCount" in usage else 1


def answer_of(chunks: Iterable[bytes]) -> Answer:
    """`chunks` are the events of a Gemini answer."""
    answer = Answer()
    for chunk in map(_event, chunks):
        if chunk.get("error"):
            continue
        usage = chunk.get("usageMetadata")
        if isinstance(usage, dict) and _rank(usage) >= (max(2, _rank(answer.usage)) if answer.usage else 1):
            answer.usage = usage
        feedback = chunk.get("promptFeedback")
        answer.is_blocked |= isinstance(feedback, dict) and bool(_reason(feedback, "blockReason", BLOCKED))
        answer.model = _text(chunk, "modelVersion") or answer.model
        answer.response_id = _text(chunk, "responseId") or answer.response_id
        for candidate in _first(chunk):
            answer.finish_reason = _reason(candidate, "finishReason", FINISHED) or answer.finish_reason
            content = candidate.get("content")
            answer.queries |= _queries(candidate)
            answer.has_parts |= bool(isinstance(content, dict) and content.get("parts"))
    return answer


def _event(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except ValueError:
        return {}  # As a program got it: a broken event is kept, and says nothing.
    if isinstance(event, list):
        event = next((one for one in event if isinstance(one, dict)), {})
    return event if isinstance(event, dict) else {}


def _first(chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
    candidates = chunk.get("candidates")
    for one in candidates if isinstance(candidates, list) else []:
        if isinstance(one, dict) and not one.get("index"):
            yield one
            return


def _queries(candidate: dict[str, Any]) -> set[str]:
    grounding = candidate.get("groundingMetadata")
    listed = grounding.get("webSearchQueries") if isinstance(grounding, dict) else None
    return (
        {one for one in listed if isinstance(one, str) and one.strip()} if isinstance(listed, list) else set()
    )


def _reason(value: dict[str, Any], name: str, numbered: dict[int, str]) -> str:
    """A reason by its name, or by its number in answers that have these (`enum-encoding=int`)."""
    found = value.get(name)
    if type(found) is int:
        return numbered.get(found, str(found))
    return "" if str(found).endswith("_UNSPECIFIED") else _text(value, name)


def _text(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
