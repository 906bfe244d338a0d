"""Why a request was sent again, by the kind of the error that the first one met (`Exchange.error`)."""

from collections.abc import Mapping
from typing import Any

from sessions_app.errors import CacheGone, SignatureMissing, SignatureRefused, excerpt

REASONS = {
    CacheGone.__name__: "Sent again without the cache that exchange {number} named.",
    SignatureRefused.__name__: (
        "Sent again without the thought signatures that the provider refused in exchange {number}."
    ),
    SignatureMissing.__name__: (
        "Sent again with a stand-in for the thought signature that the provider missed in exchange {number}."
    ),
    "other": "Sent again because exchange {number} failed.",
}

PROGRAM_REASON = "Sent again after exchange {number} failed."
"""Said of the requests of a captured program, whose intention is not known."""

RESENT_IN = {"again": "Exchange {number} sent it again."}
"""Shown with the request that failed, in place of what a person could do."""

NOTES = {
    SignatureRefused.__name__: (
        "The provider refused the thoughts of earlier answers, so the request was sent again without them."
    ),
    SignatureMissing.__name__: (
        "The provider missed the thought behind an earlier call, so the request was sent again with a "
        "stand-in."
    ),
}
"""What a person is told in the chat; other resends change nothing that the model reads."""

ASKING_AGAIN = {"ended": "{said} Asking again", "open": "{said}. Asking again"}
"""While a request waits; a countdown follows. By whether the provider's message ends as sentences do."""


def reason(error: Mapping[str, Any], number: int, *, is_captured: bool = False) -> str:
    """`error` and `number` are those of the exchange that failed."""
    if is_captured:
        return PROGRAM_REASON.format(number=number)
    return REASONS.get(str(error.get("kind")), REASONS["other"]).format(number=number)


def resent_in(number: int) -> str:
    """What was done about an exchange that failed."""
    return RESENT_IN["again"].format(number=number)


def note(kind: str) -> str:
    """Empty for a resend of which the chat says nothing."""
    return NOTES.get(kind, "")


def asking_again(message: str) -> str:
    """What the provider said, and that it is asked again."""
    said = excerpt(message)
    return ASKING_AGAIN["ended" if said.endswith((".", "!", "?", "…")) else "open"].format(said=said)
