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
    COMPARED_WITH = "compared_with"
    IMPLICIT_MINIMUM = "implicit_minimum"
    VERDICT = "verdict"
    BREAK_PLACE = "break_place"
    BREAK_BYTES = "break_bytes"
    CULPRIT = "culprit"
    PREFIX_TOKENS = "prefix_tokens"
    LOST_TOKENS = "lost_tokens"
    LOST_USD = "lost_usd"
    NAMED_EVENTS = "named_events"
    CACHE_LIFE = "cache_life"
    RESERVED_USD = "reserved_usd"


Finding = tuple[Figure, Any, Any]
"""A figure, as stored and as found."""


class MoneyFigure(StrEnum):
    """What bookings, ledgers and sums were computed a second time for."""

    BOOKED_FOR = "booked_for"
    BOOKED_SOURCE = "booked_source"
    BOOKED_PAYER = "booked_payer"
    BOOKED_DAY = "booked_day"
    BOOKED_MODEL = "booked_model"
    BOOKED_PRICE = "booked_price"
    BOOKED_TOKENS = "booked_tokens"
    BOOKED_CUT_OFF = "booked_cut_off"
    BOOKED_ESTIMATE = "booked_estimate"
    BOOKED_USD = "booked_usd"
    SEARCHES = "searches"
    SEARCH_PRICE = "search_price"
    STORED_SECONDS = "stored_seconds"
    GIVEN_BACK_SECONDS = "given_back_seconds"
    LEDGER_ITEMS = "ledger_items"
    LEDGER_TOTAL = "ledger_total"
    SESSION_SUMS = "session_sums"
    SESSION_CAUSES = "session_causes"
    SESSION_LOSSES = "session_losses"
    SESSION_SAVINGS = "session_savings"
    SESSION_MISSED = "session_missed"
    DAY_SUMS = "day_sums"
    DAY_CAUSES = "day_causes"
    RESERVATIONS = "reservations"
    MONTH_SUMS = "month_sums"
    ALL_SESSIONS = "all_sessions"


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored figure that is not what the raw rows give. `exchange` is a number, 0 for the whole session.

    Of what belongs to no session, `session` names the person and the day.
    """

    session: str
    exchange: int
    figure: StrEnum
    stored: Any
    found: Any
