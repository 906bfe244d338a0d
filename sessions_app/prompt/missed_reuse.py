"""What a request could have read from a cache at most, had it begun with all that the one before had sent.

A loss (`prefix_diff.CacheLoss`) needs something that was cached before. A clock in front of the instruction
keeps anything from being cached at all: nothing is lost then, and yet all is paid anew each time.
"""

from sessions_app.prompt.prefix_diff import BreakKind, CacheLoss, loss_in_money
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.saving_causes import SavingCause
from sessions_app.prompt.verdict import Verdict
from sessions_app.prompt.verdict_rules import IMPLICIT_LIFE

REPEATED = {
    SavingCause.SYSTEM_TEXT,
    SavingCause.TOOLS,
    SavingCause.CONTEXT_FIRST,
    SavingCause.ORDER,
    SavingCause.SIGNATURE,
    SavingCause.HISTORY,
}
"""Causes behind which the same is sent again …"""

ASKED_OTHERWISE = {BreakKind.REPLACED, BreakKind.SHORTENED, BreakKind.UNKNOWN}
"""… unless somebody asked otherwise or went back: what follows is something else then."""


def missed_reuse(
    verdict: Verdict | None, cause: SavingCause, lost: int, rates: Rates | None, *, was_named: bool = False
) -> CacheLoss:
    """Beyond the `lost` tokens; an upper bound, since a provider need not keep what it was sent.

    0 tokens where the request before was too short or too long ago, or its counts are not known; also where
    that one named an explicit cache (`was_named`): what was sent beside a name is new input in every request
    (gemini-wire §4), so all that could be reused is in the loss.
    """
    seen = verdict.seen if verdict is not None else None
    kind = seen.broken.kind if seen is not None and seen.broken is not None else BreakKind.UNKNOWN
    if verdict is None or seen is None or was_named or cause not in REPEATED or kind in ASKED_OTHERWISE:
        return CacheLoss(0)
    was, prompt = seen.was_prompt or 0, verdict.prompt or 0
    is_kept = 0 < verdict.minimum <= was and seen.idle_seconds <= IMPLICIT_LIFE.total_seconds()
    tokens = max(0, min(was, prompt) - (verdict.cached or 0) - lost) if is_kept else 0
    return loss_in_money(tokens, rates)
