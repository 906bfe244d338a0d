"""A text that the model writes beside the conversation: the draft of a summary.

It is no exchange: nothing of it is history, and it counts only when the person approves it. What it
used is booked like any other request and said with the draft.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from asgiref.sync import sync_to_async
from django.db.models import F
from django.utils import timezone

from sessions_app.context.capabilities import facts_of
from sessions_app.errors import BudgetSpent, RunError
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Price, Session, Spending
from sessions_app.models.price import Entry
from sessions_app.prompt import pricing, wire
from sessions_app.prompt.detach import chunk_text
from sessions_app.prompt.reply import Folder, Reply, Usage
from sessions_app.prompt.turns import Turn
from sessions_app.runs.budget import budgets_of

SHORTEN = (
    "Write a summary of the answer above: a few sentences that can stand in its place for the rest of "
    "the conversation. Keep facts, figures, names, decisions and what is still open. Use the language "
    "of the answer. Give only the summary."
)
COMPRESS = (
    "Write a summary of the conversation above, from which it can be continued without it. Keep what "
    "the person wants, facts, figures, names, files, decisions with their reasons and what is still "
    "open; leave out pleasantries and dead ends. Use the language of the conversation. Give only the "
    "summary."
)


@dataclass(frozen=True, slots=True)
class Composed:
    """What the model wrote and what that used; `usd` is None where the price is unknown."""

    text: str
    usage: Usage
    usd: Decimal | None

    @property
    def cost(self) -> str:
        tokens = f"{self.usage.prompt:,} prompt and {self.usage.output + self.usage.thoughts:,} output tokens"
        return f"{tokens}, {pricing.dollars(self.usd)}" if self.usd is not None else tokens


async def compose(gateway: Gateway, session: Session, material: Sequence[Turn], wish: str) -> Composed:
    """Asks the session's model once. Raises GatewayError, BudgetSpent, RunError."""
    await sync_to_async(_check_budget)(session)
    folder = Folder()
    async with gateway.stream(session.model, request(material, wish)) as chunks:
        async for chunk in chunks:
            folder.add(chunk.body)
    reply = folder.reply()
    usd = await sync_to_async(_book)(session, reply)
    if not reply.outcome.is_answer or not reply.text.strip():
        raise RunError(reply.outcome.words, hint=reply.outcome.hint or "Try again, or write it yourself.")
    return Composed(reply.text.strip(), reply.usage, usd)


def request(material: Sequence[Turn], wish: str) -> bytes:
    """The body: what is to be summarised first, the wish last."""
    contents = [{"role": "user", "parts": [{"text": text}]} for text in (chunk_text(material), wish)]
    return wire.dumps({"contents": contents})


def _check_budget(session: Session) -> None:
    spent = next((one for one in budgets_of(session, session.options) if one.is_spent), None)
    if spent is not None:
        raise BudgetSpent(spent.spent_words, hint=spent.remedy)


def _book(session: Session, reply: Reply) -> Decimal | None:
    """Books the tokens and the money for the session's owner, also of a draft that came to nothing."""
    today, served = timezone.now().date(), reply.model_version or session.model
    price = Price.objects.of(served, today, family=facts_of(served).family)
    usd = pricing.cost(reply.usage, price.rates(reply.usage.prompt)).total if price else None
    model = price.model if price else served
    Spending.objects.add_exchange(Entry(session.owner_id, today, model), reply.usage, usd)
    if usd:
        Session.objects.filter(pk=session.pk).update(spent_usd=F("spent_usd") + usd)
    return usd
