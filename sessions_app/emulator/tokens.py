"""The one token counter: countTokens, caches and usage all ask here.

A token is 3.3 bytes of UTF-8, rounded up per part; a media part is a fixed 258. The same
figures come out of any process, which no downloadable tokenizer promises (gemini-wire §2).
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import orjson

from sessions_app.emulator.shapes import Content, Part, Tool

MEDIA_TOKENS = 258

_MODALITIES = {"image": "IMAGE", "audio": "AUDIO", "video": "VIDEO", "application": "DOCUMENT"}


def estimate(text: str | bytes) -> int:
    """Tokens of a text: its UTF-8 length divided by 3.3, rounded up."""
    size = len(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return -(-10 * size // 33)


def substance(part: Part) -> bytes:
    """What of a part is counted and compared: never its signature, never its call id."""
    if part.text is not None:
        return part.text.encode()
    if call := part.function_call:
        return orjson.dumps([call.name, call.args or {}])
    if answer := part.function_response:
        media = (part.model_dump_json() for part in answer.parts)
        return orjson.dumps([answer.name, answer.response or {}, *media])
    return orjson.dumps(part.model_dump(mode="json", exclude_none=True, exclude={"thought_signature"}))


def modality(media_type: str) -> str:
    return _MODALITIES.get(media_type.partition("/")[0], "TEXT")


def part_tokens(part: Part) -> int:
    return part_tally(part).total()


def part_tally(part: Part) -> Counter[str]:
    """Tokens of a part by modality: media inside a function response count like media beside it."""
    if part.media_type:
        return Counter({modality(part.media_type): MEDIA_TOKENS})
    answer = part.function_response
    if not answer or not answer.parts:
        return Counter({"TEXT": estimate(substance(part))})
    counts = Counter(modality(media.media_type) for media in answer.parts)
    text = estimate(orjson.dumps([answer.name, answer.response or {}]))
    return Counter({"TEXT": text}) + Counter({name: MEDIA_TOKENS * count for name, count in counts.items()})


def declaration_tokens(tools: Sequence[Tool]) -> int:
    return estimate(declaration_bytes(tools)) if tools else 0


def declaration_bytes(tools: Sequence[Tool]) -> bytes:
    return orjson.dumps([tool.model_dump(mode="json", exclude_none=True) for tool in tools])


def tally(contents: Iterable[Content], tools: Sequence[Tool] = ()) -> Counter[str]:
    """Tokens by modality; `.total()` is the count the API reports."""
    counts: Counter[str] = Counter()
    for content in contents:
        for part in content.parts:
            counts += part_tally(part)
    if tools:
        counts["TEXT"] += declaration_tokens(tools)
    return counts


def details(counts: Counter[str]) -> list[dict[str, str | int]]:
    """`promptTokensDetails` as the wire writes them."""
    return [{"modality": name, "tokenCount": count} for name, count in counts.items() if count]
