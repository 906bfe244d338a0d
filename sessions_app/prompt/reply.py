"""Folding: the chunks of one response, or of the hops of one answer, become one content.

Adjacent text parts with equal `thought`, no signature and no other key are joined, a call that came in
pieces is assembled, and every other part stays as received (design §4): also an empty text part with a
signature, and an unsigned empty text after a call, which recorded clients send back and get 200.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sessions_app.prompt import wire
from sessions_app.prompt.calls import CallAssembler, FunctionCall, asked_tool, calls_of, with_assembled_calls
from sessions_app.prompt.chunks import ChunkReader, Usage, replaces
from sessions_app.prompt.citations import NO_CITATIONS, CitationFolder, Citations
from sessions_app.prompt.outcomes import CONTINUATION, Outcome, outcome_of
from sessions_app.prompt.parts import (
    RawPart,
    call_of,
    content,
    decode_signature,
    is_thought,
    signature_of,
    without_signature,
)

__all__ = ["ChunkView", "Delta", "Folder", "Outcome", "Reply", "Usage", "fold"]

Delta = tuple[Literal["text", "thought"], str]

_JOINABLE = ({"text"}, {"text", "thought"})


# Not frozen: one is made for every chunk, at a quarter of the cost.
@dataclass(slots=True)
class ChunkView:
    """What one chunk adds.

    `calls` are those completed by this chunk, `error` is the provider's error object, `signatures` are
    pairs of the part's index in the chunk and the bytes.
    """

    deltas: tuple[Delta, ...] = ()
    calls: tuple[FunctionCall, ...] = ()
    finish_reason: str = ""
    error: dict[str, Any] | None = None
    signatures: tuple[tuple[int, bytes], ...] = ()
    uses: tuple[str, ...] = ()
    """Tools of the provider that begin in it (`calls.asked_tool`)."""

    @property
    def has_thought(self) -> bool:
        return any(kind == "thought" for kind, _ in self.deltas)

    @property
    def has_answer(self) -> bool:
        """Whether there is text or a call."""
        return bool(self.calls) or any(kind == "text" for kind, _ in self.deltas)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. `wire` is the folded content, None without parts."""

    wire: bytes | None
    text: str
    thoughts: str
    calls: tuple[FunctionCall, ...]
    usage: Usage
    finish_reason: str
    finish_message: str
    block_reason: str
    model_version: str
    response_id: str
    continuation_token: str
    outcome: Outcome
    error: dict[str, Any] | None = None
    citations: Citations = NO_CITATIONS
    searches: int = 0
    """Queries of the provider's search that it counts."""


@dataclass(slots=True)
class _TextRun:
    """Adjacent text parts that are being joined, in O(n)."""

    thought: bool | None
    pieces: list[str]

    def part(self) -> RawPart:
        text = wire.well_formed("".join(self.pieces))
        return {"text": text} if self.thought is None else {"text": text, "thought": self.thought}


class Folder:
    """Folds chunk by chunk: `add` costs O(chunk) and accepts any valid JSON."""

    def __init__(self, dialect: str = "gemini") -> None:
        """`dialect` is that of the chunks (`Exchange.dialect`)."""
        self._reader = ChunkReader(dialect)
        self._parts: list[RawPart | _TextRun] = []
        self._assembler = CallAssembler()
        self._citations = CitationFolder()
        self._is_torn = False
        self._surrogate = ""
        self._sent_token = ""
        self._usage: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._error: dict[str, Any] | None = None

    def add(self, body: bytes, event: dict[str, Any] | None = None) -> ChunkView:
        """Add one event; `event` is the body where it has been parsed, and the folder's from then on.

        Raises ValueError when it is not JSON.
        """
        chunk = self._reader.read(body, event)
        if chunk is None:
            return ChunkView()
        if error := chunk.error:
            self._error = error
            return ChunkView(error=error)
        usage, names = chunk.usage, chunk.names
        if replaces(usage, self._usage):
            self._usage = usage
        self._names.update(names)
        self._citations.add(chunk.candidate)
        return self._add_parts(chunk.parts, names.get("finish_reason", ""))

    def begin_hop(self) -> None:
        """The chunks that follow answer the request that went on with this response's token.

        They add to its parts, and have an end and usage of their own.
        """
        self._sent_token = self._names.get("continuation_token", "")
        self._names, self._usage, self._error = {}, {}, None
        self._citations.begin_hop()

    def reply(self) -> Reply:
        """The reply so far; `add` may be called again."""
        parts = with_assembled_calls(
            part.part() if isinstance(part, _TextRun) else part for part in self._parts
        )
        calls, text = calls_of(parts), _joined(parts, thoughts=False)
        return Reply(
            # A role that came is not sent back: the provider takes only its own.
            wire=wire.dumps(content("model", parts)) if parts else None,
            text=text,
            thoughts=_joined(parts, thoughts=True),
            calls=calls,
            usage=Usage.of(self._usage),
            error=self._error,
            outcome=self._outcome(parts, calls),
            citations=self._citations.citations(text),
            searches=self._citations.searches,
            **{key: self._names.get(key, "") for key in _NAMES},
        )

    def _add_parts(self, parts: list[RawPart], finish_reason: str) -> ChunkView:
        deltas: list[Delta] = []
        calls: list[FunctionCall] = []
        signatures: list[tuple[int, bytes]] = []
        uses: list[str] = []
        for position, part in enumerate(parts):
            deltas += self._delta(part)
            if self._append(part) and not self._assembler.is_open:
                continue  # Text alone, as nearly always.
            calls += self._assembler.add(part)
            uses += filter(None, [asked_tool(part)])
            if (signature := signature_of(part)) is not None:
                signatures.append((position, decode_signature(signature)))
        # The next hop may bring the rest of an open call.
        if finish_reason and finish_reason != CONTINUATION:
            self._is_torn = self._assembler.is_open
            calls += self._assembler.close()
        return ChunkView(tuple(deltas), tuple(calls), finish_reason, None, tuple(signatures), tuple(uses))

    def _append(self, part: RawPart) -> bool:
        """Returns whether the part is text and nothing else."""
        text = part.get("text")
        if part.keys() not in _JOINABLE or not isinstance(text, str):
            self._parts.append(part)
            return False
        thought = part.get("thought")
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _TextRun) and bool(last.thought) == bool(thought):
            last.pieces.append(text)
        else:
            self._parts.append(_TextRun(thought, [text]))
        return True

    def _delta(self, part: RawPart) -> list[Delta]:
        text = part.get("text")
        if not isinstance(text, str) or not text:
            return []
        text, self._surrogate = _split_surrogate(self._surrogate + text)
        return [("thought" if is_thought(part) else "text", text)] if text else []

    def _outcome(self, parts: list[RawPart], calls: tuple[FunctionCall, ...]) -> Outcome:
        if self._error is not None:
            return Outcome.FAILED
        if self._names.get("block_reason") and not parts:
            return Outcome.BLOCKED
        token = self._names.get("continuation_token", "")
        return outcome_of(
            self._names.get("finish_reason", ""),
            has_calls=bool(calls),
            has_answer=any(_is_answer(part) for part in parts),
            has_parts=bool(parts),
            is_torn=self._is_torn,
            # The same token again would bring the same hop again.
            goes_on=bool(token) and token != self._sent_token,
        )


def fold(bodies: Iterable[bytes], dialect: str = "gemini") -> Reply:
    """The reply of a stored response."""
    folder = Folder(dialect)
    for body in bodies:
        folder.add(body)
    return folder.reply()


def outcome_of_parts(parts: Sequence[RawPart], finish_reason: str) -> Outcome:
    """How a reply of these parts ended, of which there are no events."""
    return outcome_of(
        finish_reason,
        has_calls=any(call_of(part) is not None for part in parts),
        has_answer=any(map(_is_answer, parts)),
        has_parts=bool(parts),
    )


_NAMES = (
    *("finish_reason", "finish_message", "block_reason"),
    *("model_version", "response_id", "continuation_token"),
)


def _split_surrogate(text: str) -> tuple[str, str]:
    """The text, and a high surrogate at its end that needs the next chunk."""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    return wire.well_formed(text[:-1] if half else text), half


def _joined(parts: list[RawPart], *, thoughts: bool) -> str:
    chosen = (part.get("text") for part in parts if is_thought(part) is thoughts)
    return "".join(wire.well_formed(text) for text in chosen if isinstance(text, str))


def _is_answer(part: RawPart) -> bool:
    if is_thought(part) or call_of(part) is not None:
        return False
    text = part.get("text")
    return bool(text.strip()) if isinstance(text, str) else bool(without_signature(part))
