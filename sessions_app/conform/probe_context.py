"""The context of a probe (gateway, model, money spent) and its observation."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson

from sessions_app.conform.cost_plan import DEAREST, kept_cost
from sessions_app.conform.report import Verdict
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import BadKey, BadRequest, BudgetSpent, GatewayError, ProviderDown, QuotaExceeded
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.model_capabilities import Capabilities
from sessions_app.gemini.provider_resources import CacheCreated
from sessions_app.prompt.parts import content, text_part
from sessions_app.prompt.payload import with_token
from sessions_app.prompt.pricing import Rates, cost
from sessions_app.prompt.reply import Reply, Usage, fold
from sessions_app.prompt.tokens import estimate

CACHE_SECONDS = 300
"""TTL of the caches of the probes, for when they cannot be deleted: storage is paid by the hour."""

ANSWER_LIMIT = 128
"""Tokens of an answer, thoughts included."""

_SENTENCE = "This line of the record says nothing new about the weather of the day. "
_SENTENCE_TOKENS = 13
"""Fewer than any tokenizer of Gemini makes of it, so that a filler is never too short."""


@dataclass(frozen=True, slots=True)
class Observation:
    """`figures` are codes and counts; `learned` are fields of the capability table that it settles."""

    verdict: Verdict
    found: str
    learned: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)


def observation(found: str, *, same: bool, **learned: Any) -> Observation:
    """The observation where one answer settles whether the provider does as assumed."""
    return Observation("same" if same else "differs", found, learned)


def new_run() -> str:
    return uuid.uuid4().hex[:12]


@dataclass(slots=True)
class ProbeContext:
    """One run of the probes. `spent` is in US dollars, by the provider's own counts; where it gave none
    for a request, all that the request could have cost. No request begins that could exceed `limit`.

    `pause` waits for so many seconds.
    """

    gateway: Gateway
    facts: Capabilities
    rates: Rates = DEAREST
    spent: Decimal = Decimal(0)
    limit: Decimal = Decimal("Infinity")
    cache: CacheCreated | None = None
    run: str = field(default_factory=new_run)
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    usages: list[Usage] = field(default_factory=list)
    has_made_caches: bool = False
    kept: int = 0
    """Tokens of the largest cache that was made."""
    call: Reply | None = None

    @property
    def model(self) -> str:
        return self.facts.model

    async def ask(
        self, contents: list[dict[str, Any]], *, fee: Decimal = Decimal(0), token: str = "", **fields: Any
    ) -> Reply:
        """The folded reply to one small request. Raises GatewayError, BudgetSpent.

        `fee` is charged when it is answered; `token` goes along as a continuation token.
        """
        config = {"maxOutputTokens": ANSWER_LIMIT} | fields.pop("generationConfig", {})
        body = orjson.dumps({"contents": contents, "generationConfig": config, **fields})
        if token:
            body = with_token(body, token)
        kept = self.kept if "cachedContent" in fields else 0
        worst = Usage(prompt=estimate(body) + kept, cached=kept, output=config["maxOutputTokens"])
        async with self._charged(cost(worst, self.rates).total + fee) as charge:
            async with self.gateway.stream(self.model, body) as chunks:
                reply = fold([chunk.body async for chunk in chunks], self.gateway.dialect)
            if reply.usage.total:
                self.usages.append(reply.usage)
                charge(cost(reply.usage, self.rates).total + fee)
        return reply

    async def refusal(self, contents: list[dict[str, Any]], **fields: Any) -> BadRequest | None:
        """The error of the provider for a request; None when it answers.

        Raises GatewayError for failures that do not depend on the request: no answer, no quota, a wrong key.
        """
        try:
            await self.ask(contents, **fields)
        except BadKey:
            raise
        except BadRequest as error:
            return error
        return None

    @property
    def mark(self) -> str:
        """The display name of this run's caches at the provider; nothing else is deleted."""
        return f"pipeweb conform {self.run}"

    async def make_cache(self, seconds: int = CACHE_SECONDS) -> CacheCreated:
        """An explicit cache a little above the minimum. Raises GatewayError, BudgetSpent."""
        text = self.filler((self.facts.explicit_minimum or 0) * 5 // 4)
        body = orjson.dumps({"contents": [text_content(text)]})
        self.has_made_caches = True
        async with self._charged(kept_cost(estimate(body), 2 * seconds, self.rates)) as charge:
            made = await self.gateway.create_cache(
                model=self.model, contents_and_tools=body, ttl_seconds=seconds, display_name=self.mark
            )
            charge(kept_cost(made.tokens, 2 * seconds, self.rates))
        self.kept = max(self.kept, made.tokens)
        return made

    async def shared_cache(self) -> CacheCreated:
        """The explicit cache that the probes share. Raises GatewayError, BudgetSpent."""
        if self.cache is None:
            self.cache = await self.make_cache()
        return self.cache

    async def delete_shared_cache(self) -> None:
        """Raises GatewayError."""
        made, self.cache = self.cache, None
        if made is not None:
            await self.gateway.delete_cache(made.name)

    async def clean_up(self) -> int:
        """Deletes the caches with this run's mark; returns how many could not be, 1 if nobody knows."""
        self.cache, left = None, 0
        try:
            listed = await self.gateway.list_caches()
        except GatewayError:
            return 1
        for cache in listed:
            if cache.display_name == self.mark:
                try:
                    await self.gateway.delete_cache(cache.name)
                except GatewayError:
                    left += 1
        self.has_made_caches = left > 0
        return left

    def filler(self, tokens: int) -> str:
        """Text of at least so many tokens, new each time: nothing cached earlier may answer for it."""
        return f"Run {self.run} {new_run()}. " + _SENTENCE * (tokens // _SENTENCE_TOKENS + 1)

    @asynccontextmanager
    async def _charged(self, worst: Decimal) -> AsyncIterator[Callable[[Decimal], None]]:
        """Books the cost of a request: what `charge` is told, nothing for a refusal, else `worst`."""
        if self.spent + worst > self.limit:
            figures = {"usd_spent": str(self.spent), "usd_limit": str(self.limit)}
            raise BudgetSpent(RefusalCode.BUDGET_SPENT, **figures)
        charges = [worst]
        try:
            yield charges.append
        except (BadRequest, QuotaExceeded, ProviderDown):
            charges.append(Decimal(0))
            raise
        finally:
            self.spent += charges[-1]


def filler_tokens(tokens: int) -> int:
    """The tokens that our estimate makes of a filler, which are more than any of Gemini's tokenizers."""
    return estimate(_SENTENCE * (tokens // _SENTENCE_TOKENS + 1)) + 20


def text_content(text: str) -> dict[str, Any]:
    return content("user", [text_part(text)])


def tool_declaration(name: str) -> Mapping[str, Any]:
    """A declaration of one function with one text argument."""
    place = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"functionDeclarations": [{"name": name, "description": "The weather now.", "parameters": place}]}
