"""Whether and how long to wait before asking the provider again."""

import random
from dataclasses import dataclass

from sessions_app.errors import CacheGone, GatewayError
from sessions_app.gemini.mapping import is_worth_retrying

_dice = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Patience:
    """`tries` requests at most; pauses of `base`·2ⁿ seconds or the provider's own, none over `longest`."""

    tries: int = 4
    base: float = 1.0
    longest: float = 60.0

    def pause(self, error: GatewayError, failures: int, *, used_cache: bool) -> float | None:
        """Seconds before the next request; None when another one would not help.

        `failures` counts the requests that have failed. A request whose cache is gone is sent again
        at once: without the name it is valid.
        """
        if isinstance(error, CacheGone):
            return 0.0 if used_cache else None
        if failures >= self.tries or not is_worth_retrying(error):
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest else None
        # Spread out: many runs that failed together must not come back together.
        return min(self.longest, self.base * 2.0 ** (failures - 1)) * _dice.uniform(1.0, 1.25)
