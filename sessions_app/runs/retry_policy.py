"""When a failed request is sent again."""

import random
from dataclasses import dataclass

from sessions_app.errors import CacheGone, GatewayError
from sessions_app.gemini.error_mapping import is_worth_retrying

_random = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `tries` requests; pauses of `base`·2ⁿ seconds or the provider's own, up to `longest`."""

    tries: int = 4
    base: float = 1.0
    longest: float = 60.0

    def pause(self, error: GatewayError, failures: int, *, used_cache: bool) -> float | None:
        """Seconds before the next request; None to give up.

        `failures` counts failed requests. After CacheGone the request is sent at once without the cache.
        """
        if isinstance(error, CacheGone):
            return 0.0 if used_cache else None
        if failures >= self.tries or not is_worth_retrying(error):
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest else None
        # Jitter: runs that failed together must not retry together.
        return min(self.longest, self.base * 2.0 ** (failures - 1)) * _random.uniform(1.0, 1.25)
