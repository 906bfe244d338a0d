"""From a Script to the objects on the wire, in the places where each family puts them.

Gemini 3 streams: thoughts, text, then an empty text with the signature and the finish reason;
or each call in a chunk of its own, the first one signed, then an empty text with the finish
reason. Gemini 2.5 sends all calls in its last chunk, and signs the first chunk of a text
(recorded-traffic "Signatures: where").
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.partials import fragments
from sessions_app.emulator.scripts import Script
from sessions_app.emulator.signatures import Mint
from sessions_app.emulator.tokens import estimate
from sessions_app.emulator.usage import Usage

Wire = dict[str, Any]

_CHUNK = 100
_CALLS_MADE = "Model generated function call(s)."
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply, ready to be written either way. `shows_thoughts` is the request's includeThoughts."""

    script: Script
    model: Model
    usage: Usage
    mint: Mint
    response_id: str
    shows_thoughts: bool = False

    def stream(self) -> list[Wire]:
        """The chunks, in order."""
        if self.script.block_reason or not self.script.has_content:
            return [self.whole()]
        said = self._call_beats() if self.script.calls else self._text_beats()
        beats = [*self._thought_beats(), *self._beside_beats(), *said]
        if not self.script.finish:
            beats = beats[:-1]
        return [self._chunk(beat) for beat in beats]

    def whole(self) -> Wire:
        """The unary answer."""
        if self.script.block_reason:
            return self._envelope(
                {"promptFeedback": {"blockReason": self.script.block_reason}}, _Beat(last=True)
            )
        beat = _Beat(self._parts(), self._candidates(), self._thoughts(), last=True, closing=True)
        return self._chunk(beat)

    def _parts(self) -> list[Wire]:
        parts = [_thought(text) for text in self.script.thoughts] if self.shows_thoughts else []
        if self.script.calls:
            return parts + self._calls()
        if not self.script.text and not self.script.has_parts:
            return parts
        return [*parts, *self.script.beside, {"text": self.script.text} | self._signature()]

    def _thought_beats(self) -> Iterator["_Beat"]:
        spent = 0
        for text in self.script.thoughts if self.shows_thoughts else ():
            spent += 0 if self.model.checks_signatures else estimate(text)
            yield _Beat([_thought(text)], thoughts=spent)

    def _beside_beats(self) -> Iterator["_Beat"]:
        for part in self.script.beside:
            yield _Beat([part], 0, self._thoughts())

    def _text_beats(self) -> Iterator["_Beat"]:
        thoughts, sent = self._thoughts(), 0
        chunks = [{"text": piece} for piece in self._pieces()]
        tail = self._tail(chunks)
        for chunk in chunks:
            sent += len(chunk["text"].encode())
            yield _Beat([chunk], estimate(b"." * sent), thoughts)
        yield _Beat(tail, self._candidates(), thoughts, last=True, closing=True)

    def _pieces(self) -> list[str]:
        """Gemini 3 begins with a few characters, 2.5 with a whole chunk."""
        return cut(self.script.text, self.script.pieces, starts_short=self.model.checks_signatures)

    def _tail(self, chunks: list[Wire]) -> list[Wire]:
        """The parts of the last chunk; before Gemini 3 that is the last of `chunks`, taken out of it."""
        if self.model.checks_signatures:
            return [{"text": ""} | self._signature()] if self.script.has_parts else []
        if chunks:
            chunks[0] |= self._signature()
        return [chunks.pop()] if chunks and self.script.has_parts else []

    def _call_beats(self) -> Iterator["_Beat"]:
        calls, costs, thoughts = self._calls(), self._call_costs(), self._thoughts()
        if not self.model.checks_signatures:
            yield _Beat(calls, sum(costs), thoughts, last=True, closing=True)
            return
        for index, call in enumerate(calls):
            for part in _in_pieces(call) if self.script.partial else [call]:
                yield _Beat([part], sum(costs[: index + 1]), thoughts)
        yield _Beat([{"text": ""}], sum(costs), thoughts, last=True)

    def _calls(self) -> list[Wire]:
        parts: list[Wire] = []
        for index, ask in enumerate(self.script.calls):
            call: Wire = {"name": ask.name, "args": ask.args}
            if self.model.names_calls:
                call["id"] = _call_id(self.response_id, index)
            parts.append({"functionCall": call} | (self._signature() if index == 0 else {}))
        return parts

    def _signature(self) -> Wire:
        if not self.script.signed:
            return {}
        made = self.mint.sign(self.model, self.response_id, self.script.step, self._thoughts())
        return {"thoughtSignature": base64.b64encode(made).decode()}

    def _thoughts(self) -> int:
        return sum(estimate(text) for text in self.script.thoughts) + self.script.unseen_thoughts

    def _candidates(self) -> int:
        return sum(self._call_costs()) if self.script.calls else estimate(self.script.text)

    def _call_costs(self) -> list[int]:
        return [estimate(orjson.dumps([ask.name, ask.args])) for ask in self.script.calls]

    def _chunk(self, beat: "_Beat") -> Wire:
        each = [self._candidate(beat, index) for index in range(self.script.candidates)]
        return self._envelope({"candidates": each}, beat)

    def _candidate(self, beat: "_Beat", index: int) -> Wire:
        candidate: Wire = {}
        if self.script.has_content:
            candidate["content"] = ({"parts": beat.parts} if beat.parts else {}) | {"role": "model"}
        if beat.last and self.script.finish:
            candidate["finishReason"] = self.script.finish
        candidate["index"] = index
        message = self.script.finish_message or (_CALLS_MADE if self.script.calls and beat.closing else "")
        if beat.last and message:
            candidate["finishMessage"] = message
        if beat.last and self.script.token:
            candidate["continuationToken"] = base64.b64encode(self.script.token).decode()
        return candidate

    def _envelope(self, lead: Wire, beat: "_Beat") -> Wire:
        spent = beat.candidates * self.script.candidates
        return lead | {
            "usageMetadata": self.usage.metadata(spent, beat.thoughts, last=beat.last),
            "modelVersion": self.model.version,
            "responseId": self.response_id,
        }


@dataclass(frozen=True, slots=True)
class _Beat:
    """The parts of one chunk and the counts so far. `closing` is a last chunk that holds content."""

    parts: Sequence[Wire] = ()
    candidates: int = 0
    thoughts: int = 0
    last: bool = False
    closing: bool = False


def cut(text: str, pieces: int = 0, *, starts_short: bool = True) -> list[str]:
    """Chunks that join to `text`: a short first one, then about 100 characters, or so many `pieces`."""
    if pieces:
        size = max(1, -(-len(text) // pieces))
        return [text[at : at + size] for at in range(0, len(text), size)]
    first = text.find(" ", 1, _CHUNK) if starts_short else -1
    chunks = [text[:first]] if first > 0 else []
    rest = text[first:] if first > 0 else text
    while rest:
        end = rest.rfind(" ", _CHUNK - 10, _CHUNK + 10) if len(rest) > _CHUNK else len(rest)
        end = end if end > 0 else _CHUNK
        chunks.append(rest[:end])
        rest = rest[end:]
    return chunks


def _in_pieces(part: Wire) -> list[Wire]:
    """A functionCall part as the parts that stream its arguments; the signature stays on the first."""
    first, *rest = fragments(part["functionCall"])
    return [part | {"functionCall": first}, *({"functionCall": piece} for piece in rest)]


def _thought(text: str) -> Wire:
    return {"text": text, "thought": True}


def _call_id(response_id: str, index: int) -> str:
    digest = hashlib.sha256(f"{response_id} {index}".encode()).digest()
    return "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in digest[:8])
