"""The events of a streamed response and their usage: the only reader of the keys outside the parts."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from sessions_app.prompt import wire
from sessions_app.prompt.dialects import chunk_translator
from sessions_app.prompt.outcomes import BLOCK_NAMES, FINISH_NAMES, name_of
from sessions_app.prompt.parts import RawPart, parts_in
from sessions_app.prompt.wire import as_dict, as_list

_LARGEST_COUNT = 2**31 - 1
"""What the columns of an exchange can hold."""

_ENVELOPE_KEYS = {
    "": (
        "candidates promptFeedback usageMetadata modelVersion responseId turnToken createTime modelStatus "
        "error"
    ),
    "candidates[]": (
        "content finishReason finishMessage index safetyRatings citationMetadata tokenCount avgLogprobs "
        "logprobsResult groundingMetadata groundingAttributions urlContextMetadata continuationToken"
    ),
    "content": "parts role",
    "promptFeedback": "blockReason blockReasonMessage safetyRatings",
    "usageMetadata": (
        "promptTokenCount cachedContentTokenCount candidatesTokenCount thoughtsTokenCount totalTokenCount "
        "toolUsePromptTokenCount promptTokensDetails cacheTokensDetails candidatesTokensDetails "
        "toolUsePromptTokensDetails rawPromptTokenCount trafficType serviceTier"
    ),
}
"""What google-genai 3.4.0 and the recordings name, by object."""
_KNOWN_KEYS = {place: frozenset(names.split()) for place, names in _ENVELOPE_KEYS.items()}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them, from the last chunk that has usage.

    Counts are cumulative within a stream and only the last chunk shows restored thoughts, so
    earlier chunks are never added (recorded-traffic.md, "Usage"). `prompt` includes `cached`.
    """

    prompt: int = 0
    cached: int = 0
    output: int = 0
    thoughts: int = 0
    tool_use: int = 0
    total: int = 0
    raw: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Self:
        """The counts of a `usageMetadata`; missing or invalid ones are 0."""

        def count(name: str) -> int:
            return as_count(raw.get(name)) or 0

        return cls(
            prompt=count("promptTokenCount"),
            cached=count("cachedContentTokenCount"),
            output=count("candidatesTokenCount"),
            thoughts=count("thoughtsTokenCount"),
            tool_use=count("toolUsePromptTokenCount"),
            total=count("totalTokenCount"),
            raw=raw,
        )

    @property
    def is_counted(self) -> bool:
        """Whether the provider counted what it read. A `usageMetadata` may hold no number for it: of another
        type, or nothing but a traffic type.
        """
        return as_count(self.raw.get("promptTokenCount")) is not None


def replaces(usage: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether a `usageMetadata` takes the place of an earlier one of its stream, empty for none.

    A Vertex chunk may have only `trafficType`. Google sends a total with every count; what answers in its
    place may send none.
    """
    has_counts = "totalTokenCount" in usage or (
        "promptTokenCount" in usage and "totalTokenCount" not in before
    )
    return bool(usage) and (has_counts or not before)


class TokenKind(StrEnum):
    """What a provider counts, in the order of a request and its answer."""

    PROMPT = "prompt"
    CACHED = "cached"
    TOOL_USE = "tool_use"
    OUTPUT = "output"
    THOUGHTS = "thoughts"
    TOTAL = "total"


_COUNTS = {
    TokenKind.PROMPT: ("promptTokenCount", "promptTokensDetails"),
    TokenKind.CACHED: ("cachedContentTokenCount", "cacheTokensDetails"),
    TokenKind.TOOL_USE: ("toolUsePromptTokenCount", "toolUsePromptTokensDetails"),
    TokenKind.OUTPUT: ("candidatesTokenCount", "candidatesTokensDetails"),
    TokenKind.THOUGHTS: ("thoughtsTokenCount", ""),
    TokenKind.TOTAL: ("totalTokenCount", ""),
}


@dataclass(frozen=True, slots=True)
class TokenCount:
    """One count of a `usageMetadata` with its modalities as received; `count` is None where it has none."""

    kind: TokenKind
    count: int | None
    modalities: dict[str, int]

    @property
    def unexplained(self) -> int:
        """What the modalities leave of the count; 0 where the provider named none."""
        return (self.count or 0) - sum(self.modalities.values()) if self.modalities else 0


def token_counts(raw: dict[str, Any]) -> tuple[TokenCount, ...]:
    """The counts that a `usageMetadata` has, also of modalities alone."""
    found = (
        TokenCount(kind, as_count(raw.get(name)), _modalities(raw.get(details)))
        for kind, (name, details) in _COUNTS.items()
    )
    return tuple(one for one in found if one.count is not None or one.modalities)


_STANDARD = {
    "serviceTier": {"", "standard", "service_tier_unspecified"},
    "trafficType": {"", "on_demand", "traffic_type_unspecified", "0", "1"},
}
_TEXT = {"", "text", "modality_unspecified", "0", "1"}
"""The unspecified modality may be left out; its number, 0, is read as if it were."""


def is_standard_text(raw: dict[str, Any]) -> bool:
    """Whether a `usageMetadata` names no service beside the standard one, and counts nothing but text.

    The prices that are known are of both (gemini-wire §8). Enums may be numbers.
    """
    if any(str(raw.get(name) or "").lower() not in values for name, values in _STANDARD.items()):
        return False
    named = (one.modalities for one in token_counts(raw))
    return all(name.lower() in _TEXT for each in named for name, count in each.items() if count)


def as_count(value: Any) -> int | None:
    """A count of tokens as a provider gives it; None for what is none, or larger than any can be."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return value if is_count else None


def _modalities(details: Any) -> dict[str, int]:
    """Modality → tokens; entries of another shape are left out."""
    found: dict[str, int] = {}
    for one in details if isinstance(details, list) else ():
        count = as_count(as_dict(one).get("tokenCount"))
        if count is not None:
            name = wire.well_formed(str(one.get("modality") or ""))
            found[name] = found.get(name, 0) + count
    return found


class StreamedChunk:
    """One event of a streamed response; values of the wrong type read as absent.

    `raw` is the event in Gemini's form, `candidate` its first candidate, `content` that one's content.
    """

    # No dataclass: one is created for every chunk, at half the cost.
    __slots__ = ("candidate", "content", "raw")

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.candidate = _first_candidate(raw)
        self.content = as_dict(self.candidate.get("content"))

    @property
    def error(self) -> dict[str, Any] | None:
        """The provider's error object, if the event is one."""
        error = self.raw.get("error")
        return (as_dict(error) or {"message": str(error)}) if error else None

    @property
    def parts(self) -> list[RawPart]:
        """The non-empty parts."""
        return [part for part in parts_in(self.content) if part]

    @property
    def usage(self) -> dict[str, Any]:
        """`usageMetadata` as received; empty when the event has none."""
        return as_dict(self.raw.get("usageMetadata"))

    @property
    def names(self) -> dict[str, str]:
        """Those of `finish_reason`, `finish_message`, `block_reason` (of the prompt), `model_version`,
        `response_id` and `continuation_token` that the event has.
        """
        raw, candidate = self.raw, self.candidate
        found: dict[str, str] = {}
        if isinstance(version := raw.get("modelVersion"), str):
            found["model_version"] = version
        if isinstance(response_id := raw.get("responseId"), str):
            found["response_id"] = response_id
        if "finishReason" in candidate and (reason := name_of(candidate["finishReason"], FINISH_NAMES)):
            found["finish_reason"] = reason
        if isinstance(message := candidate.get("finishMessage"), str):
            found["finish_message"] = message
        if isinstance(token := candidate.get("continuationToken"), str):
            found["continuation_token"] = token
        blocked = raw.get("promptFeedback")
        if isinstance(blocked, dict) and (reason := name_of(blocked.get("blockReason"), BLOCK_NAMES)):
            found["block_reason"] = reason
        if all(map(str.isascii, found.values())):
            return found
        return {name: wire.well_formed(value) for name, value in found.items()}

    @property
    def finishes(self) -> dict[int, str]:
        """The finish reason of each candidate in the event by its index; empty where it has none yet."""
        found: dict[int, str] = {}
        for one in as_list(self.raw.get("candidates")):
            index = as_count(as_dict(one).get("index")) or 0
            found[index] = finish_reason_of(as_dict(one)) or found.get(index, "")
        return found

    @property
    def unknown(self) -> dict[str, Any]:
        """The values of the keys beside the parts that this version does not know, by their place."""
        raw, objects = self.raw, {"": self.raw, "candidates[]": self.candidate, "content": self.content}
        objects |= {name: as_dict(raw.get(name)) for name in ("promptFeedback", "usageMetadata")}
        return {
            f"{place}.{key}".removeprefix("."): value
            for place, known in _KNOWN_KEYS.items()
            for key, value in objects[place].items()
            if key not in known
        }

    @property
    def is_last(self) -> bool:
        """Whether the event ends the stream: an error, or a candidate with a finish reason."""
        return self.error is not None or "finish_reason" in self.names


class ChunkReader:
    """Reads the events of one exchange in its dialect."""

    def __init__(self, dialect: str = "gemini") -> None:
        """`dialect` is `Exchange.dialect`."""
        self._translate = chunk_translator(dialect)

    def read(self, body: bytes, event: dict[str, Any] | None = None) -> StreamedChunk | None:
        """The event, or None for JSON that is no object. `event` is the body where it has been parsed.

        Raises ValueError when it is not JSON, or too deep for what reads it, as an earlier version stored it.
        """
        found = _parsed(body) if event is None else event
        if not isinstance(found, dict):
            return None
        return StreamedChunk(self._translate(found) if self._translate else found)


def _parsed(body: bytes) -> Any:
    if wire.is_too_complex(body):
        raise ValueError("nested too deeply")
    event = wire.loads(body)
    if isinstance(event, list):
        return next((item for item in event if isinstance(item, dict)), {})
    return event


def finish_reason_of(candidate: dict[str, Any]) -> str:
    """Empty where none is named."""
    return name_of(candidate.get("finishReason"), FINISH_NAMES)


def candidates_asked_for(settings: Any) -> int:
    """How many answers a generation configuration asks for."""
    told = as_dict(settings)
    return as_count(told.get("candidateCount", told.get("candidate_count"))) or 1


def is_failure(event: Any) -> bool:
    """Whether a parsed event is only an error of the provider; null, as some write nothing, is none."""
    return isinstance(event, dict) and event.get("error") is not None and "candidates" not in event


def _first_candidate(raw: dict[str, Any]) -> dict[str, Any]:
    for item in as_list(raw.get("candidates")):
        if isinstance(item, dict) and not item.get("index"):
            return item
    return {}
