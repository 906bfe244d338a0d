"""What the probes work with: one gateway, one model, a purse."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson

from sessions_app.errors import BadKey, BadRequest, GatewayError
from sessions_app.gemini.answers import CacheCreated
from sessions_app.gemini.capabilities import Capabilities
from sessions_app.gemini.gateway import Gateway
from sessions_app.prompt.pricing import Rates, cost, making
from sessions_app.prompt.reply import Reply, Usage, fold

CACHE_SECONDS = 120
"""How long a probe's cache may live if nobody can delete it any more: storage is paid by the hour."""


DEAREST = Rates(Decimal(4), Decimal("0.4"), Decimal(20))
"""Where nobody has entered a price: that of the dearest listed model (gemini-wire §8)."""


@dataclass(slots=True)
class Bench:
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
            reply = fold([chunk.body async for chunk in chunks])
        self.spent += float(cost(reply.usage, self.rates).total)
        return reply

    async def refusal(self, contents: list[dict[str, Any]], **fields: Any) -> BadRequest | None:
        """What the provider says against a request; None when it answers.

        Raises GatewayError for what says nothing about the request: no answer, no quota, a wrong key.
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
        """How this run's cache is called at the provider; nothing else is deleted."""
        return f"pipeweb conform {self.run}"

    async def kept(self) -> CacheCreated:
        """The explicit cache that the probes share, a little above the minimum. Raises GatewayError."""
        if self.cache is None:
            text = self.filler((self.facts.explicit_minimum or 0) * 5 // 4)
            self.cache = await self.gateway.create_cache(
                model=self.model,
                contents_and_tools=orjson.dumps({"contents": [said(text)]}),
                ttl_seconds=CACHE_SECONDS,
                display_name=self.mark,
            )
            self.spent += float(making(self.cache.tokens, self.rates).total)
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


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def tool_of(name: str) -> Mapping[str, Any]:
    """A declaration of one function with one text argument."""
    place = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"functionDeclarations": [{"name": name, "description": "The weather now.", "parameters": place}]}
