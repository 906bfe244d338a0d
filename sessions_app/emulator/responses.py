"""Lays out a reply as GenerateContentResponse objects, in the form of each model family (`answer_form`).

Gemini 3 streams: thoughts, text, then an empty text with the signature and the finish reason;
or each call in a chunk of its own, the first one signed, then an empty text with the finish
reason. Gemini 2.5 ends with its last text or call, and signs the first (recorded-traffic
"Signatures: where").
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from sessions_app.emulator.answer_form import NEWEST, AnswerForm, FormTable
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.chunking import split_call, split_text
from sessions_app.emulator.scripted_reply import ScriptedReply
from sessions_app.emulator.signer import Signer
from sessions_app.emulator.usage import TokenCounts, estimate_tokens
from sessions_app.emulator.wire_model import JsonObject

_UNEXPECTED_CALL = "UNEXPECTED_TOOL_CALL"
_SAFETY = "SAFETY"
_BLOCKED_RATINGS: tuple[JsonObject, ...] = (
    {"category": "HARM_CATEGORY_HATE_SPEECH", "probability": "LOW", "blocked": True},
    {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "NEGLIGIBLE"},
    {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"},
    {"category": "HARM_CATEGORY_SEXUALLY_EXPLICIT", "probability": "NEGLIGIBLE"},
)
"""As recorded of 1.5 Flash (pydantic-ai, model-safety-settings); that newer models rate is an assumption."""
_CALLS_MADE = "Model generated function call(s)."
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SUMMARY_END = "\n\n\n"
"""Ends every summary of thoughts in recorded answers."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The parts of one chunk and the token counts so far. `closing` is a last chunk with content."""

    parts: Sequence[JsonObject] = ()
    candidates: int = 0
    thoughts: int = 0
    last: bool = False
    closing: bool = False


@dataclass(frozen=True, slots=True)
class ScriptedResponse:
    """A reply laid out for a stream or as a whole. `shows_thoughts` is the request's includeThoughts."""

    script: ScriptedReply
    model: Model
    usage: TokenCounts
    signer: Signer
    response_id: str
    shows_thoughts: bool = False
    forms: FormTable = NEWEST

    @property
    def form(self) -> AnswerForm:
        return self.forms.of(self.model.version)

    def with_script(self, script: ScriptedReply) -> Self:
        return replace(self, script=script)

    def stream(self) -> list[JsonObject]:
        """The chunks, in order."""
        if self.script.block_reason or not self.script.has_content:
            return [self._bare(self.full_response())]
        content = self._call_chunks() if self.script.calls else self._text_chunks()
        chunks = [*self._thought_chunks(), *self._extra_chunks(), *content]
        if not self.script.finish:
            chunks = chunks[:-1]
        *before, last = [self._response(chunk) for chunk in chunks]
        return [*before, self._bare(last)]

    def _bare(self, last: JsonObject) -> JsonObject:
        """The last chunk of a stream; after an unexpected call without what names the answer."""
        if self.script.finish != _UNEXPECTED_CALL:
            return last
        return {key: last[key] for key in ("candidates", "usageMetadata")}

    def full_response(self) -> JsonObject:
        """The unary answer."""
        if self.script.block_reason:
            feedback = {"promptFeedback": {"blockReason": self.script.block_reason}}
            return feedback | self._metadata(_Chunk(last=True))
        chunk = _Chunk(
            self._parts(), self._candidate_tokens(), self.script.thought_tokens, last=True, closing=True
        )
        return self._response(chunk)

    def _parts(self) -> list[JsonObject]:
        parts = [_thought(*self.script.thoughts)] if self.script.thoughts and self.shows_thoughts else []
        if self.script.calls:
            said = [{"text": self.script.text}] if self.script.text else []
            return [*parts, *said, *self._calls()]
        if not self.script.text and not self.script.has_parts:
            return parts
        return [*parts, *self.script.extra_parts, {"text": self.script.text} | self._signature()]

    def _thought_chunks(self) -> Iterator[_Chunk]:
        spent = 0
        for text in self.script.thoughts if self.shows_thoughts else ():
            spent += estimate_tokens(text) if self.form.counts_thoughts_at_once else 0
            yield _Chunk([_thought(text)], thoughts=spent)

    def _extra_chunks(self) -> Iterator[_Chunk]:
        for part in self.script.extra_parts:
            yield _Chunk([part], 0, self.script.thought_tokens)

    def _text_chunks(self) -> Iterator[_Chunk]:
        chunks = self._text_parts()
        tail = self._tail(chunks)
        yield from self._counted(chunks)
        yield _Chunk(tail, self._candidate_tokens(), self.script.thought_tokens, last=True, closing=True)

    def _text_parts(self) -> list[JsonObject]:
        opening = self.form.opening if self.script.thought_tokens else 0
        pieces = split_text(self.script.text, self.script.pieces, opening=opening, size=self.form.chunk)
        return [{"text": piece} for piece in pieces]

    def _counted(self, texts: Sequence[JsonObject]) -> Iterator[_Chunk]:
        """A chunk for each text, with what was said so far."""
        sent = 0
        for text in texts:
            sent += len(text["text"].encode())
            yield _Chunk([text], estimate_tokens(b"." * sent), self.script.thought_tokens)

    def _tail(self, chunks: list[JsonObject]) -> list[JsonObject]:
        """The parts of the last chunk: an empty text, or the last of `chunks`, taken out of it."""
        if self.form.closes_empty:
            return [{"text": ""} | self._signature()] if self.script.has_parts else []
        if chunks:
            chunks[0] |= self._signature()
        return [chunks.pop()] if chunks and self.script.has_parts else []

    def _call_chunks(self) -> Iterator[_Chunk]:
        """What is said before the calls, unsigned, and the calls."""
        calls, costs, thoughts = self._calls(), self.script.call_tokens, self.script.thought_tokens
        yield from self._counted(self._text_parts() if self.script.text else [])
        said, spent = estimate_tokens(self.script.text), self._candidate_tokens()
        if not self.form.splits_calls:
            yield _Chunk(calls, spent, thoughts, last=True, closing=True)
            return
        chunks = [
            _Chunk([part], said + sum(costs[: index + 1]), thoughts)
            for index, call in enumerate(calls)
            for part in (split_call(call) if self.script.partial else [call])
        ]
        if self.form.closes_empty:
            yield from (*chunks, _Chunk([{"text": ""}], spent, thoughts, last=True))
        else:
            yield from (*chunks[:-1], replace(chunks[-1], last=True, closing=True))

    def _calls(self) -> list[JsonObject]:
        parts: list[JsonObject] = []
        for index, scripted in enumerate(self.script.calls):
            call: JsonObject = {"name": scripted.name, "args": scripted.args}
            if self.forms.holds(self.form.call_ids_from):
                call["id"] = _call_id(self.response_id, index)
            parts.append({"functionCall": call} | (self._signature() if index == 0 else {}))
        return parts

    def _signature(self) -> JsonObject:
        if not self.script.signed:
            return {}
        step, thoughts = self.script.step, self.script.thought_tokens
        signature = self.signer.sign(self.model, self.response_id, step, thoughts)
        return {"thoughtSignature": base64.b64encode(signature).decode()}

    def _candidate_tokens(self) -> int:
        return sum(self.script.call_tokens) + estimate_tokens(self.script.text)

    def _response(self, chunk: _Chunk) -> JsonObject:
        candidates = [self._candidate(chunk, index) for index in range(self.script.candidates)]
        return {"candidates": candidates} | self._metadata(chunk)

    def _candidate(self, chunk: _Chunk, index: int) -> JsonObject:
        script, candidate = self.script, JsonObject()
        if script.has_content:
            candidate["content"] = ({"parts": chunk.parts} if chunk.parts else {}) | {"role": "model"}
        if chunk.last and script.finish:
            candidate["finishReason"] = script.finish
        candidate["index"] = index
        if chunk.last and script.finish == _SAFETY:
            candidate["safetyRatings"] = [dict(rating) for rating in _BLOCKED_RATINGS]
        message = script.finish_message or (_CALLS_MADE if script.calls and chunk.closing else "")
        if chunk.last and message:
            candidate["finishMessage"] = message
        if chunk.last and script.token:
            candidate["continuationToken"] = base64.b64encode(script.token).decode()
        return candidate

    def _metadata(self, chunk: _Chunk) -> JsonObject:
        tokens = chunk.candidates * self.script.candidates
        metadata = {
            "usageMetadata": self.usage.metadata(tokens, chunk.thoughts, last=chunk.last),
            "modelVersion": self.model.version,
            "responseId": self.response_id,
        }
        if self.forms.holds(self.form.turn_token_from):
            metadata["turnToken"] = turn_token(self.response_id)
        return metadata


def turn_token(response_id: str) -> str:
    """`v1_` and the URL-safe base64, without padding, of a protobuf that holds the id in fields 1 and 2."""
    field = bytes((len(response_id),)) + response_id.encode()
    return "v1_" + base64.urlsafe_b64encode(b"\x0a" + field + b"\x12" + field).decode().rstrip("=")


def _thought(*summaries: str) -> JsonObject:
    """A stream has a part for each summary; an answer without one has all in its only part."""
    return {"text": "".join(f"{summary}{_SUMMARY_END}" for summary in summaries), "thought": True}


def _call_id(response_id: str, index: int) -> str:
    digest = hashlib.sha256(f"{response_id} {index}".encode()).digest()
    return "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in digest[:8])
