"""Folding: the chunks of one response, exactly as received, become one content.

The rule (design §4): adjacent text parts with equal `thought`, no signature and no other key are
joined, a call that came in pieces is put together, and every other part stays as it came. So an
empty text part that carries the signature stays a part of its own, parallel calls that arrive in
separate chunks end in one content, and an unsigned empty text after a call stays too: recorded
clients send it back and get 200.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from sessions_app.prompt import wire
from sessions_app.prompt.calls import Assembler, Call, call_of, calls_of, with_whole_calls
from sessions_app.prompt.outcomes import BLOCK_NAMES, FINISH_NAMES, Outcome, name_of, outcome_of
from sessions_app.prompt.renditions.chunks import gemini_chunk
from sessions_app.prompt.turns import decode_signature

__all__ = ["ChunkView", "Delta", "Folder", "Outcome", "Reply", "Usage", "fold"]

Delta = tuple[Literal["text", "thought"], str]

_JOINABLE = ({"text"}, {"text", "thought"})


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


@dataclass(frozen=True, slots=True)
class ChunkView:
    """What one chunk adds, for showing at once.

    `calls` holds the calls that became complete with this chunk; `error` the provider's error
    object, if the chunk is one; `signatures` pairs the part's position in this chunk with the bytes.
    """

    deltas: tuple[Delta, ...] = ()
    calls: tuple[Call, ...] = ()
    finish_reason: str = ""
    error: dict[str, Any] | None = None
    signatures: tuple[tuple[int, bytes], ...] = ()

    @property
    def has_thought(self) -> bool:
        return any(kind == "thought" for kind, _ in self.deltas)

    @property
    def has_answer(self) -> bool:
        """Text or a call: what a person waits for."""
        return bool(self.calls) or any(kind == "text" for kind, _ in self.deltas)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole response. `wire` is the folded content, None when no part came."""

    wire: bytes | None
    text: str
    thoughts: str
    calls: tuple[Call, ...]
    usage: Usage
    finish_reason: str
    finish_message: str
    block_reason: str
    model_version: str
    response_id: str
    outcome: Outcome
    error: dict[str, Any] | None = None


@dataclass(slots=True)
class _Run:
    """Adjacent text parts being joined; a list, so that a long answer costs O(n), not O(n²)."""

    thought: bool | None
    pieces: list[str]

    def part(self) -> dict[str, Any]:
        text = wire.well_formed("".join(self.pieces))
        return {"text": text} if self.thought is None else {"text": text, "thought": self.thought}


class Folder:
    """Folds chunk by chunk: `add` costs O(chunk) and never raises on odd but valid JSON."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any] | _Run] = []
        self._assembler = Assembler()
        self._role = ""
        self._half = ""
        self._usage: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._error: dict[str, Any] | None = None

    def add(self, body: bytes) -> ChunkView:
        """Take one event's JSON, of either dialect. Raises ValueError only when it is not JSON."""
        chunk = wire.loads(body)
        if isinstance(chunk, list):
            chunk = next((item for item in chunk if isinstance(item, dict)), {})
        if not isinstance(chunk, dict):
            return ChunkView()
        if chunk.get("error"):
            self._error = _as_dict(chunk["error"]) or {"message": str(chunk["error"])}
            return ChunkView(error=self._error)
        chunk = gemini_chunk(chunk)
        self._note(chunk)
        candidate = _first_candidate(chunk)
        finish_reason = self._finish(candidate)
        return self._take(_as_dict(candidate.get("content")), finish_reason)

    def reply(self) -> Reply:
        """What has come so far; `add` may go on after it."""
        parts = with_whole_calls(part.part() if isinstance(part, _Run) else part for part in self._parts)
        calls = calls_of(parts)
        return Reply(
            wire=wire.dumps({"role": self._role or "model", "parts": parts}) if parts else None,
            text=_joined(parts, thoughts=False),
            thoughts=_joined(parts, thoughts=True),
            calls=calls,
            usage=_usage(self._usage),
            error=self._error,
            outcome=self._outcome(parts, calls),
            **{key: self._names.get(key, "") for key in _NAMES},
        )

    def _note(self, chunk: dict[str, Any]) -> None:
        usage = _as_dict(chunk.get("usageMetadata"))
        # A Vertex mid chunk has only `trafficType`: it must not hide the counts.
        if usage and ("totalTokenCount" in usage or not self._usage):
            self._usage = usage
        for key, name in (("modelVersion", "model_version"), ("responseId", "response_id")):
            if isinstance(chunk.get(key), str):
                self._names[name] = chunk[key]
        blocked = name_of(_as_dict(chunk.get("promptFeedback")).get("blockReason"), BLOCK_NAMES)
        if blocked:
            self._names["block_reason"] = blocked

    def _finish(self, candidate: dict[str, Any]) -> str:
        reason = name_of(candidate.get("finishReason"), FINISH_NAMES)
        if reason:
            self._names["finish_reason"] = reason
        if isinstance(candidate.get("finishMessage"), str):
            self._names["finish_message"] = wire.well_formed(candidate["finishMessage"])
        return reason

    def _take(self, content: dict[str, Any], finish_reason: str) -> ChunkView:
        if not self._role and isinstance(content.get("role"), str):
            self._role = content["role"]
        deltas: list[Delta] = []
        calls: list[Call] = []
        signatures: list[tuple[int, bytes]] = []
        for position, part in enumerate(_parts(content)):
            self._append(part)
            calls += self._assembler.add(part)
            deltas += self._delta(part)
            if isinstance(part.get("thoughtSignature"), str):
                signatures.append((position, decode_signature(part["thoughtSignature"])))
        if finish_reason:
            calls += self._assembler.close()
        return ChunkView(tuple(deltas), tuple(calls), finish_reason, None, tuple(signatures))

    def _append(self, part: dict[str, Any]) -> None:
        text = part.get("text")
        if part.keys() not in _JOINABLE or not isinstance(text, str):
            self._parts.append(part)
            return
        thought = part.get("thought")
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Run) and bool(last.thought) == bool(thought):
            last.pieces.append(text)
        else:
            self._parts.append(_Run(thought, [text]))

    def _delta(self, part: dict[str, Any]) -> list[Delta]:
        text = part.get("text")
        if not isinstance(text, str) or not text:
            return []
        text, self._half = _whole(self._half + text)
        return [("thought" if part.get("thought") is True else "text", text)] if text else []

    def _outcome(self, parts: list[dict[str, Any]], calls: tuple[Call, ...]) -> Outcome:
        if self._error is not None:
            return Outcome.FAILED
        if self._names.get("block_reason") and not parts:
            return Outcome.BLOCKED
        return outcome_of(
            self._names.get("finish_reason", ""),
            has_calls=bool(calls),
            has_answer=any(_answers(part) for part in parts),
            came=bool(parts),
        )


def fold(bodies: Iterable[bytes]) -> Reply:
    """The reply of a whole stored response."""
    folder = Folder()
    for body in bodies:
        folder.add(body)
    return folder.reply()


_NAMES = ("finish_reason", "finish_message", "block_reason", "model_version", "response_id")


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _first_candidate(chunk: dict[str, Any]) -> dict[str, Any]:
    candidates = chunk.get("candidates")
    found = [item for item in candidates if isinstance(item, dict)] if isinstance(candidates, list) else []
    return next((item for item in found if not item.get("index")), {})


def _parts(content: dict[str, Any]) -> list[dict[str, Any]]:
    parts = content.get("parts")
    return [part for part in parts if isinstance(part, dict) and part] if isinstance(parts, list) else []


def _whole(text: str) -> tuple[str, str]:
    """The text that can be shown now, and half an emoji (a high surrogate) to wait for its other half."""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    return wire.well_formed(text[:-1] if half else text), half


def _joined(parts: list[dict[str, Any]], *, thoughts: bool) -> str:
    chosen = (part.get("text") for part in parts if (part.get("thought") is True) is thoughts)
    return "".join(wire.well_formed(text) for text in chosen if isinstance(text, str))


def _answers(part: dict[str, Any]) -> bool:
    if part.get("thought") is True or call_of(part) is not None:
        return False
    text = part.get("text")
    return bool(text.strip()) if isinstance(text, str) else part.keys() != {"thoughtSignature"}


def _usage(raw: dict[str, Any]) -> Usage:
    def count(name: str) -> int:
        value = raw.get(name)
        return value if isinstance(value, int) else 0

    return Usage(
        prompt=count("promptTokenCount"),
        cached=count("cachedContentTokenCount"),
        output=count("candidatesTokenCount"),
        thoughts=count("thoughtsTokenCount"),
        tool_use=count("toolUsePromptTokenCount"),
        total=count("totalTokenCount"),
        raw=raw,
    )
