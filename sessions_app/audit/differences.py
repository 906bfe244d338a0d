"""What an audit finds."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Figure(StrEnum):
    """What was computed a second time."""

    REQUEST_SIZE = "request_size"
    REQUEST_SHA256 = "request_sha256"
    LAYER_TOKENS = "layer_tokens"
    USAGE = "usage"
    PROMPT_TOKENS = "prompt_tokens"
    CACHED_TOKENS = "cached_tokens"
    OUTPUT_TOKENS = "output_tokens"
    THOUGHT_TOKENS = "thought_tokens"
    FINISH_REASON = "finish_reason"
    SERVED_MODEL = "served_model"
    RESPONSE_ID = "response_id"
    COST = "cost"
    VERDICT = "verdict"
    BREAK_PLACE = "break_place"
    CULPRIT = "culprit"
    PREFIX_TOKENS = "prefix_tokens"
    LOST_TOKENS = "lost_tokens"
    LOST_USD = "lost_usd"
    NAMED_EVENTS = "named_events"
    CACHE_LIFE = "cache_life"


Finding = tuple[Figure, Any, Any]
"""A figure, as stored and as found."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored figure that is not what the raw rows give. `exchange` is a number, 0 for the whole session."""

    session: str
    exchange: int
    figure: Figure
    stored: Any
    found: Any
