"""Lays out answers that use the provider's own tools, around the layout of their text.

Gemini 3 shows each use as a pair of signed parts with an id, the second in a chunk without `index`
that counts the prompt only; every step has its own counts until the last chunk adds them up, with the
thoughts of the steps before in the prompt. Gemini 2.5 shows code only, unsigned, and counts all along.
The table with its recordings stands in the README.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import orjson

from sessions_app.emulator.grounding import grounding_metadata, search_entry_point, url_context_metadata
from sessions_app.emulator.responses import ScriptedResponse
from sessions_app.emulator.scripted_reply import ScriptedReply, ToolUse
from sessions_app.emulator.usage import estimate_tokens
from sessions_app.emulator.wire_model import JsonObject

_TOOL_TYPES = {"google_search": "GOOGLE_SEARCH_WEB", "url_context": "URL_CONTEXT"}
_USAGE_ORDER = (
    *("promptTokenCount", "candidatesTokenCount", "totalTokenCount", "cachedContentTokenCount"),
    *("promptTokensDetails", "cacheTokensDetails", "toolUsePromptTokenCount", "toolUsePromptTokensDetails"),
    *("thoughtsTokenCount", "serviceTier", "rawPromptTokenCount"),
)
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_PAGE_TOKENS = 1_000
"""Prompt tokens for each page that was retrieved."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """What a chunk counts beside the prompt. `restored` thoughts are counted as prompt."""

    candidates: int = 0
    thoughts: int = 0
    tools: int = 0
    restored: int = 0


def with_tool_uses(
    inner: ScriptedResponse, *, shows_invocations: bool
) -> "ScriptedResponse | ToolUsingResponse":
    """`inner` itself where its script uses no tool, or has nothing that a use could stand beside."""
    script = inner.script
    is_plain = script.calls or script.block_reason or not (script.has_content and script.has_parts)
    return inner if is_plain or not script.tool_uses else ToolUsingResponse(inner, shows_invocations)


@dataclass(frozen=True, slots=True)
class ToolUsingResponse:
    """`inner` lays out the text. `shows_invocations` is the request's includeServerSideToolInvocations."""

    inner: ScriptedResponse
    shows_invocations: bool

    @property
    def script(self) -> ScriptedReply:
        return self.inner.script

    def with_script(self, script: ScriptedReply) -> Self:
        return replace(self, inner=self.inner.with_script(script))

    def stream(self) -> list[JsonObject]:
        chunks = self.inner.stream()
        start = 0 if self._signs else sum(map(_is_thought, chunks))
        if start == len(chunks):
            return chunks
        steps = [chunk for use in self._shown for chunk in self._step(use, chunks[start])]
        texts = [self._text_chunk(chunk, is_first=not at) for at, chunk in enumerate(chunks[start:])]
        return [*chunks[:start], *steps, *texts]

    def full_response(self) -> JsonObject:
        response = self.inner.full_response()
        for candidate in response["candidates"]:
            content = candidate["content"]
            start = 0 if self._signs else sum(part.get("thought", False) for part in content["parts"])
            shown = [part for use in self._shown for pair in self._pairs(use) for part in pair]
            content["parts"][start:start] = shown
            candidate.update(self._metadata())
        response["usageMetadata"] = _recounted(response["usageMetadata"], self._totals(is_last=True))
        return response

    @property
    def _signs(self) -> bool:
        return self.inner.model.checks_signatures

    @property
    def _shown(self) -> Sequence[ToolUse]:
        """The uses that leave parts: code always, others on request and since Gemini 3."""
        shows_calls = self._signs and self.shows_invocations
        return [use for use in self.script.tool_uses if use.code or shows_calls]

    def _pairs(self, use: ToolUse) -> Iterator[list[JsonObject]]:
        """The parts of a use, one list for each chunk of a stream."""
        if self._signs and self.inner.shows_thoughts:
            yield [{"text": use.thought, "thought": True}]
        name = f"{self.inner.response_id} {self.script.tool_uses.index(use)}"
        shared = {"id": _id(name)} if self._signs else {}
        if use.code:
            outcome = "OUTCOME_FAILED" if use.is_failure else "OUTCOME_OK"
            code = {"language": "PYTHON", "code": use.code}
            yield [{"executableCode": code | shared} | self._signature(name, use)]
            yield [{"codeExecutionResult": {"outcome": outcome, "output": use.output} | shared}]
            return
        called, responded = _invocation(use)
        kind = {"toolType": _TOOL_TYPES[use.tool]}
        yield [self._signature(name, use) | {"toolCall": kind | {"args": called} | shared}]
        response = {"toolResponse": kind | {"response": responded} | shared}
        yield [self._signature(f"{name} response", use) | response]

    def _signature(self, name: str, use: ToolUse) -> JsonObject:
        if not self._signs:
            return {}
        signer, model = self.inner.signer, self.inner.model
        signature = signer.sign(model, name, self.script.step, estimate_tokens(use.thought))
        return {"thoughtSignature": base64.b64encode(signature).decode()}

    def _step(self, use: ToolUse, text: JsonObject) -> Iterator[JsonObject]:
        """The chunks of a use. The first chunk of the text lends its envelope and its prompt."""
        pairs, usage = list(self._pairs(use)), text["usageMetadata"]
        own = _Counts(_call_tokens(use), self._thought_tokens(use) or usage.get("thoughtsTokenCount", 0))
        for at, parts in enumerate(pairs):
            is_result = self._signs and at == len(pairs) - 1
            candidate: JsonObject = {"content": {"parts": parts, "role": "model"}}
            counts = _recounted(usage, _Counts() if is_result else own, starts_anew=True)
            yield text | {
                "candidates": [candidate | ({} if is_result else {"index": 0})],
                "usageMetadata": counts,
            }

    def _text_chunk(self, chunk: JsonObject, *, is_first: bool) -> JsonObject:
        is_last = any("finishReason" in candidate for candidate in chunk["candidates"])
        for candidate in chunk["candidates"]:
            candidate.update(self._metadata(is_first=is_first, is_last=is_last))
        usage = _recounted(chunk["usageMetadata"], self._totals(is_last=is_last))
        return chunk | {"usageMetadata": usage}

    def _metadata(self, *, is_first: bool = True, is_last: bool = True) -> JsonObject:
        """Gemini 2.5 has empty grounding metadata in every chunk before the last."""
        uses = self.script.tool_uses
        is_grounded = any(use.queries or use.urls for use in uses)
        found: JsonObject = {}
        if is_grounded and is_last:
            found["groundingMetadata"] = grounding_metadata(uses, self.script.text)
        elif is_grounded and not self._signs:
            found["groundingMetadata"] = {}
        pages = url_context_metadata(uses) if is_first else {}
        return found | ({"urlContextMetadata": pages} if pages else {})

    def _totals(self, *, is_last: bool) -> _Counts:
        """What a chunk of the text counts beside its own; Gemini 3 adds up in the last one."""
        if self._signs and not is_last:
            return _Counts()
        thoughts = sum(map(self._thought_tokens, self._shown))
        # Gemini 3 does not count what a search brought in (recorded 5 of 5).
        tools = [use for use in self.script.tool_uses if not (self._signs and use.queries)]
        candidates = sum(map(_call_tokens, self._shown))
        return _Counts(candidates, thoughts, sum(map(_tool_tokens, tools)), thoughts)

    def _thought_tokens(self, use: ToolUse) -> int:
        return estimate_tokens(use.thought) if self._signs else 0


def _is_thought(chunk: JsonObject) -> bool:
    parts = chunk["candidates"][0].get("content", {}).get("parts", [])
    return bool(parts) and all(part.get("thought") for part in parts)


def _invocation(use: ToolUse) -> tuple[JsonObject, JsonObject]:
    """The arguments of a tool call, and the response to it."""
    if use.queries:
        return {"queries": list(use.queries)}, {"search_suggestions": search_entry_point(use.queries)}
    return {"urls": list(use.urls)}, url_context_metadata([use])


def _call_tokens(use: ToolUse) -> int:
    return estimate_tokens(use.code or orjson.dumps(_invocation(use)[0]))


def _tool_tokens(use: ToolUse) -> int:
    """What the tool brought into the prompt."""
    if use.code:
        return estimate_tokens(use.code + use.output)
    return _PAGE_TOKENS * len(use.queries or use.urls)


def _recounted(usage: JsonObject, more: _Counts, *, starts_anew: bool = False) -> JsonObject:
    """`usage` with more counted: total = prompt + candidates + thoughts + tool use. With `starts_anew`
    what it counted beside the prompt is left out."""
    counts = dict(usage)
    if starts_anew:
        counts = {
            key: counts[key] for key in counts if key not in ("candidatesTokenCount", "thoughtsTokenCount")
        }
    for key, count in (("candidatesTokenCount", more.candidates), ("thoughtsTokenCount", more.thoughts)):
        if count:
            counts[key] = counts.get(key, 0) + count
    if more.restored:
        counts["promptTokenCount"] += more.restored
        counts["promptTokensDetails"] = [
            detail
            | {"tokenCount": detail["tokenCount"] + (more.restored if detail["modality"] == "TEXT" else 0)}
            for detail in counts["promptTokensDetails"]
        ]
    if more.tools:
        counts["toolUsePromptTokenCount"] = more.tools
        counts["toolUsePromptTokensDetails"] = [{"modality": "TEXT", "tokenCount": more.tools}]
    counted = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
    counts["totalTokenCount"] = sum(counts.get(key, 0) for key in counted)
    known = [key for key in _USAGE_ORDER if key in counts]
    return {key: counts[key] for key in (*known, *(key for key in counts if key not in _USAGE_ORDER))}


def _id(name: str) -> str:
    digest = hashlib.sha256(name.encode()).digest()
    return "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in digest[:8])
