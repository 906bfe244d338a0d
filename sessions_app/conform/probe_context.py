"""The context of a probe (gateway, model, money spent) and its observation."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import orjson

from sessions_app.errors import BadKey, BadRequest, GatewayError
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.model_capabilities import Capabilities
from sessions_app.gemini.provider_resources import CacheCreated
from sessions_app.prompt.parts import content, text_part
from sessions_app.prompt.pricing import Rates, cost, creation_cost
from sessions_app.prompt.reply import Reply, Usage, fold

CACHE_SECONDS = 120
"""TTL of the cache of the probes, for when it cannot be deleted: storage is paid by the hour."""

DEAREST = Rates(Decimal(4), Decimal("0.4"), Decimal(20))
"""The default without a price: that of the dearest listed model (gemini-wire §8)."""

Verdict = Literal["same", "differs", "open", "skipped", "failed"]
"""As assumed; not as assumed; undecided by one answer; not run; could not be run."""


@dataclass(frozen=True, slots=True)
class Observation:
    """`learned` are fields of the capability table that the answer settles."""

    verdict: Verdict
    found: str
    learned: dict[str, Any] = field(default_factory=dict)


def observation(found: str, *, same: bool, **learned: Any) -> Observation:
    """The observation where one answer settles whether the provider does as assumed."""
    return Observation("same" if same else "differs", found, learned)


@dataclass(slots=True)
class ProbeContext:
    """One run of the probes. `spent` is in US dollars, by the provider's own counts."""

    gateway: Gateway
    facts: Capabilities
    rates: Rates = DEAREST
    spent: float = 0.0
    cache: CacheCreated | None = None
    run: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    @property
    def model(self) -> str:
        return self.facts.model

    def estimate(self, prompt: int, output: int) -> float:
        """US dollars for so many tokens, none of them cached."""
        return float(cost(Usage(prompt=prompt, output=output), self.rates).total)

    async def ask(self, contents: list[dict[str, Any]], **fields: Any) -> Reply:
        """The folded reply to one small request. Raises GatewayError."""
        config = {"maxOutputTokens": 256} | fields.pop("generationConfig", {})
        body = orjson.dumps({"contents": contents, "generationConfig": config, **fields})
        async with self.gateway.stream(self.model, body) as chunks:
            reply = fold([chunk.body async for chunk in chunks], self.gateway.dialect)
        self.spent += float(cost(reply.usage, self.rates).total)
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
        """The display name of this run's cache at the provider; nothing else is deleted."""
        return f"pipeweb conform {self.run}"

    async def shared_cache(self) -> CacheCreated:
        """The explicit cache that the probes share, a little above the minimum. Raises GatewayError."""
        if self.cache is None:
            text = self.filler((self.facts.explicit_minimum or 0) * 5 // 4)
            self.cache = await self.gateway.create_cache(
                model=self.model,
                contents_and_tools=orjson.dumps({"contents": [text_content(text)]}),
                ttl_seconds=CACHE_SECONDS,
                display_name=self.mark,
            )
            self.spent += float(creation_cost(self.cache.tokens, self.rates).total)
        return self.cache

    async def clean_up(self) -> str:
        """Deletes the shared cache; answers its name when the provider would not."""
        made, self.cache = self.cache, None
        if made is not None:
            try:
                await self.gateway.delete_cache(made.name)
            except GatewayError:
                return made.name
        return ""

    def filler(self, tokens: int) -> str:
        """Text of at least so many tokens, new in every run: nothing cached earlier may answer for it."""
        return f"Run {self.run}. " + " ".join(
            f"Line {line} of the record." for line in range(tokens // 5 + 1)
        )


def text_content(text: str, role: str = "user") -> dict[str, Any]:
    return content(role, [text_part(text)])


def tool_declaration(name: str) -> Mapping[str, Any]:
    """A declaration of one function with one text argument."""
    place = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"functionDeclarations": [{"name": name, "description": "The weather now.", "parameters": place}]}
