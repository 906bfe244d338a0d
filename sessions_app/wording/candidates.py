"""Of an answer with several candidates, one is shown."""

from collections.abc import Mapping

CANDIDATES = {
    "came": "{count} candidates came. The first is shown; the Wire tab has all, and all are counted. "
    "Finish reasons: {reasons}.",
    "asked": "{count} candidates were asked for. Of those that came the first is shown, and all are counted.",
}
NO_REASON = {"none": "none"}


def came(finishes: Mapping[int, str]) -> str:
    """By index the finish reason of each; empty for one candidate."""
    reasons = (f"{index + 1} {reason or NO_REASON['none']}" for index, reason in sorted(finishes.items()))
    if len(finishes) < 2:
        return ""
    return CANDIDATES["came"].format(count=len(finishes), reasons=", ".join(reasons))


def asked(count: int) -> str:
    return CANDIDATES["asked"].format(count=count) if count > 1 else ""
