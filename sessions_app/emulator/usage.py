"""`usageMetadata`: total = prompt + candidates + thoughts, in every chunk, exactly.

The prompt includes what was cached; counters of nothing are left out (recorded-traffic "Usage").
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sessions_app.emulator.tokens import details


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request. `restored` joins the prompt only in the last chunk."""

    prompt: Counter[str]
    cached: Counter[str]
    restored: int = 0

    def metadata(self, candidates: int = 0, thoughts: int = 0, *, last: bool = False) -> dict[str, Any]:
        prompt = self.prompt + Counter({"TEXT": self.restored if last else 0})
        counts: dict[str, Any] = {"promptTokenCount": prompt.total()}
        if candidates:
            counts["candidatesTokenCount"] = candidates
        counts["totalTokenCount"] = prompt.total() + candidates + thoughts
        if cached := self.cached.total():
            counts["cachedContentTokenCount"] = cached
        counts["promptTokensDetails"] = details(prompt)
        if cached:
            counts["cacheTokensDetails"] = details(self.cached)
        if thoughts:
            counts["thoughtsTokenCount"] = thoughts
        return {**counts, "serviceTier": "standard"}
