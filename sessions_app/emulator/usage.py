"""Token counts: the one counter behind countTokens, caches and `usageMetadata`.

A token is 3.3 bytes of UTF-8, rounded up for each part; a media part is a fixed 258. Every process
gets the same figures, which no downloadable tokenizer promises (gemini-wire §2).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from sessions_app.emulator.gemini_requests import Content, Part
from sessions_app.emulator.tool_declarations import ToolDeclarations
from sessions_app.emulator.wire_model import JsonObject

MEDIA_TOKENS = 258

_MODALITIES = {"image": "IMAGE", "audio": "AUDIO", "video": "VIDEO", "application": "DOCUMENT"}


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Prompt tokens of one request by modality. `restored` joins the prompt only in the last chunk.
    `has_tier` names the service tier, `framing` are the tokens around the contents, 0 where uncounted."""

    prompt: Counter[str]
    cached: Counter[str]
    restored: int = 0
    has_tier: bool = True
    framing: int = 0

    def metadata(self, candidates: int = 0, thoughts: int = 0, *, last: bool = False) -> JsonObject:
        """`usageMetadata`: total = prompt + candidates + thoughts in every chunk, exactly. The prompt
        includes what was cached; a count of zero is left out (recorded-traffic "Usage")."""
        prompt = self.prompt + Counter({"TEXT": self.restored if last else 0})
        counts: JsonObject = {"promptTokenCount": prompt.total()}
        if candidates:
            counts["candidatesTokenCount"] = candidates
        counts["totalTokenCount"] = prompt.total() + candidates + thoughts
        if cached := self.cached.total():
            counts["cachedContentTokenCount"] = cached
        counts["promptTokensDetails"] = details(prompt)
        if cached:
            counts["cacheTokensDetails"] = details(self.cached)
        if thoughts:
            counts["thoughtsTokenCount"] = thoughts
        if self.has_tier:
            counts["serviceTier"] = "standard"
        if self.framing:
            counts["rawPromptTokenCount"] = prompt.total() + self.framing
        return counts


def scaled(counts: Counter[str], factor: float) -> Counter[str]:
    return Counter({name: round(count * factor) for name, count in counts.items()})


def details(counts: Counter[str]) -> list[JsonObject]:
    """`promptTokensDetails` of a response."""
    return [{"modality": name, "tokenCount": count} for name, count in counts.items() if count]


def count_tokens(contents: Iterable[Content], tools: Sequence[ToolDeclarations] = ()) -> Counter[str]:
    """Tokens by modality; `.total()` is the count the API reports."""
    counts: Counter[str] = Counter()
    for content in contents:
        for part in content.parts:
            counts += part_token_counts(part)
    if tools:
        counts["TEXT"] += estimate_tokens(declaration_bytes(tools))
    return counts


def framing_tokens(contents: Sequence[Content]) -> int:
    """Tokens around the contents, which `rawPromptTokenCount` adds: 27, 4 for each content, the system
    instruction among them, and 4 for each that is signed.

    Fits the six answers of google/adk-go's TestTailRetentionE2E (2026-08-31: 35, 47, 51, 51, 31, 31); none is
    among the recordings.
    """
    signed = sum(any(part.thought_signature for part in content.parts) for content in contents)
    return 27 + 4 * (len(contents) + signed)


def part_token_counts(part: Part) -> Counter[str]:
    """Tokens of a part by modality: media inside a function response count like media beside it."""
    if part.media_type:
        return Counter({modality(part.media_type): MEDIA_TOKENS})
    answer = part.function_response
    if not answer or not answer.parts:
        return Counter({"TEXT": estimate_tokens(counted_bytes(part))})
    counts = Counter({"TEXT": estimate_tokens(orjson.dumps([answer.name, answer.response or {}]))})
    for media in answer.parts:
        counts[modality(media.media_type)] += MEDIA_TOKENS
    return counts


def part_tokens(part: Part) -> int:
    return part_token_counts(part).total()


def modality(media_type: str) -> str:
    return _MODALITIES.get(media_type.partition("/")[0], "TEXT")


def counted_bytes(part: Part) -> bytes:
    """What of a part is counted and compared: never its signature, never its call id."""
    if part.text is not None:
        return part.text.encode()
    if call := part.function_call:
        return orjson.dumps([call.name, call.args or {}])
    if answer := part.function_response:
        media = (part.model_dump_json() for part in answer.parts)
        return orjson.dumps([answer.name, answer.response or {}, *media])
    return orjson.dumps(part.model_dump(mode="json", exclude_none=True, exclude={"thought_signature"}))


def declaration_bytes(tools: Sequence[ToolDeclarations]) -> bytes:
    return orjson.dumps([tool.model_dump(mode="json", exclude_none=True) for tool in tools])


def estimate_tokens(text: str | bytes) -> int:
    """UTF-8 length divided by 3.3, rounded up."""
    size = len(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return -(-10 * size // 33)
