"""A verdict or an end as a badge: the word, the tone of its colour, and what it means."""

from dataclasses import dataclass

from sessions_app.inspector import texts
from sessions_app.models import Exchange
from sessions_app.prompt.reply import Outcome

GOOD = ("HIT", "PARTIAL")
BAD = ("PROVIDER_MISS", "CACHE_EXPIRED", "LAYER_CHANGED", "MODEL_CHANGED", "CONFIG_CHANGED", "SHORTENED")


@dataclass(frozen=True, slots=True)
class Finding:
    word: str
    tone: str
    meaning: str


def verdict_of(exchange: Exchange) -> Finding | None:
    code = exchange.verdict
    if not code:
        return None
    tone = "good" if code.upper() in GOOD else "warn" if code.upper() in BAD else "accent"
    return Finding(code.replace("_", " ").lower(), tone, exchange.verdict_words)


def end_of(exchange: Exchange) -> Finding:
    """How the exchange ended, with words: an error, an outcome, or still open."""
    if exchange.error:
        code = exchange.error.get("code")
        word = f"error {code}" if code else "error"
        return Finding(word, "bad", texts.visible(str(exchange.error.get("message", ""))))
    if exchange.outcome:
        return outcome_of(exchange.outcome)
    return (
        Finding("waiting", "accent", "No answer has come yet.")
        if exchange.is_open
        else Finding("ended", "", "")
    )


def outcome_of(value: str) -> Finding:
    try:
        outcome = Outcome(value)
    except ValueError:
        # A row written by an older version may hold a word this one no longer has.
        return Finding(value.replace("_", " "), "warn", "")
    tone = "good" if outcome in (Outcome.COMPLETE, Outcome.CALLS) else "warn"
    return Finding(value.replace("_", " "), tone, outcome.words)
