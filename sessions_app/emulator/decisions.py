"""Why a request was answered as it was: the rule that decided, with the figures that it decided by.

The journal keeps one `Decision` for each request. The product never reads them
(`tests/emulator/test_decisions.py`): they are what its own verdicts can be compared with.
"""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Rule(StrEnum):
    """What decided a request: a hit, a miss, or a refusal. `VALUE_INVALID` is the refusal of any value that
    no rule of its own covers."""

    SERVED = "served"
    RECORDED = "recorded"
    EXPLICIT_HIT = "explicit_hit"
    IMPLICIT_HIT = "implicit_hit"
    NOTHING_HELD = "nothing_held"
    BELOW_MINIMUM = "below_minimum"
    HIT_WITHHELD = "hit_withheld"

    FAULT = "fault"
    FAULT_UNKNOWN = "fault_unknown"
    KEY_MISSING = "key_missing"
    KEY_INVALID = "key_invalid"
    ROUTE_UNKNOWN = "route_unknown"
    MODEL_UNKNOWN = "model_unknown"
    JSON_UNREADABLE = "json_unreadable"
    FIELD_UNKNOWN = "field_unknown"
    VALUE_INVALID = "value_invalid"
    CONTENTS_MISSING = "contents_missing"
    ROLE_UNKNOWN = "role_unknown"
    PARTS_MISSING = "parts_missing"
    PART_EMPTY = "part_empty"
    TOOL_EMPTY = "tool_empty"
    RESPONSE_WITHOUT_CALL = "response_without_call"
    CALL_OUT_OF_PLACE = "call_out_of_place"
    CALLS_UNANSWERED = "calls_unanswered"
    SIGNATURE_MISSING = "signature_missing"
    SIGNATURE_REFUSED = "signature_refused"
    CONTINUATION_UNKNOWN = "continuation_unknown"
    PROMPT_TOO_LONG = "prompt_too_long"
    THINKING_UNSUPPORTED = "thinking_unsupported"
    SAMPLING_UNSUPPORTED = "sampling_unsupported"
    FUNCTIONS_UNSUPPORTED = "functions_unsupported"
    CACHE_GONE = "cache_gone"
    CACHE_TOO_SMALL = "cache_too_small"
    CACHE_BESIDE_FIELDS = "cache_beside_fields"
    CACHE_OF_OTHER_MODEL = "cache_of_other_model"
    CACHE_NOT_PAID = "cache_not_paid"
    CACHE_EXPIRY_INVALID = "cache_expiry_invalid"
    FILE_GONE = "file_gone"
    FILE_NOT_READY = "file_not_ready"
    UPLOAD_INVALID = "upload_invalid"
    INTERACTION_GONE = "interaction_gone"
    UNIMPLEMENTED = "unimplemented"

    @property
    def is_hit(self) -> bool:
        return self in {Rule.EXPLICIT_HIT, Rule.IMPLICIT_HIT}

    @property
    def is_miss(self) -> bool:
        return self in {Rule.NOTHING_HELD, Rule.BELOW_MINIMUM, Rule.HIT_WITHHELD}


class CacheState(StrEnum):
    """`VANISHED`: a fault removed it before its expiry. `UNKNOWN`: no cache of that name is remembered."""

    LIVE = "live"
    EXPIRED = "expired"
    DELETED = "deleted"
    VANISHED = "vanished"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CacheFinding:
    """An explicit cache that a request names, or whose content is the beginning of the request.

    `ended` is when it was deleted, vanished or expired, None while it lives.
    """

    name: str
    state: CacheState
    is_named: bool
    is_other_key: bool = False
    is_other_model: bool = False
    tokens: int = 0
    expires: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class PrefixMatch:
    """The longest beginning of a request that an earlier one of the same key and model had.

    `bytes` and `tokens` are those of the whole blocks that are alike, `prompt` the tokens of the request;
    below `minimum` nothing is reused.
    """

    bytes: int
    tokens: int
    prompt: int
    minimum: int

    @property
    def rule(self) -> Rule:
        if not self.tokens:
            return Rule.NOTHING_HELD
        return Rule.IMPLICIT_HIT if self.tokens >= self.minimum else Rule.BELOW_MINIMUM


@dataclass(slots=True)
class Decision:
    """What was decided about one request, as far as it came. `at` is the emulator's clock at its arrival,
    `cached` the count that the answer reports, `faults` the words that changed something."""

    at: datetime
    rule: Rule = Rule.SERVED
    cached: int = 0
    prefix: PrefixMatch | None = None
    caches: tuple[CacheFinding, ...] = ()
    faults: list[str] = field(default_factory=list)

    def describe(self) -> dict[str, Any]:
        """As JSON; times in ISO 8601."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
