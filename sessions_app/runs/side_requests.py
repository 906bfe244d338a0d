"""Requests beside the conversation: drafts of summaries, and titles.

They are no exchanges and not part of the history; their cost is booked like any other.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from sessions_app.context.personal_limits import check_draft
from sessions_app.database import database_sync_to_async
from sessions_app.errors import RunError
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import HttpEvidence
from sessions_app.models import Booking, Reservation, Session
from sessions_app.models.columns import storable
from sessions_app.prompt import pricing, wire
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.detach import chunk_text
from sessions_app.prompt.parts import content, text_part
from sessions_app.prompt.payload import with_token
from sessions_app.prompt.pricing import Money
from sessions_app.prompt.reply import Outcome, Reply, Usage
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.runs import budgets, limits
from sessions_app.runs.accounting import bounds_of, money_for
from sessions_app.runs.money_source import source_of_answer
from sessions_app.runs.reply_progress import ReplyProgress
from sessions_app.runs.serving import price_of_served, serving_model
from sessions_app.wording import costs, outcomes

TRY_AGAIN = "Try again, or write it yourself."

LONGEST_SECONDS = 120.0
"""After that a side request is given up: a page waits for it."""

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


_drafts: Counter[int] = Counter()
"""Owner → drafts that this process waits for."""


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """`usd` is None when the price is unknown. `is_estimated`: the provider did not count some request;
    `other_price`: as `Money` has it, of some request.
    """

    text: str
    usage: Usage
    usd: Decimal | None
    is_estimated: bool = False
    other_price: bool = False

    @property
    def cost(self) -> str:
        tokens = f"{self.usage.prompt:,} prompt and {self.usage.output + self.usage.thoughts:,} output tokens"
        told = costs.mark(missing=0, estimates=self.is_estimated) + tokens
        if self.usd is None:
            return told
        mark = costs.mark(missing=0, estimates=self.is_estimated or self.other_price)
        return f"{told}, {mark}{pricing.dollars(self.usd)}"


async def draft_summary(
    gateway: Gateway, session: Session, material: Sequence[TurnValue], instruction: str
) -> SummaryDraft:
    """A draft that a person asked for. Raises GatewayError, BudgetSpent, OverLimit, RunError."""
    others = _drafts[session.owner_id]
    _drafts[session.owner_id] += 1
    try:
        await database_sync_to_async(check_draft)(session.owner_id, others)
        return await ask_in_time(gateway, session, SpendingCause.SUMMARY, material, instruction)
    finally:
        _drafts[session.owner_id] -= 1


async def ask_in_time(
    gateway: Gateway, session: Session, cause: SpendingCause, material: Sequence[TurnValue], instruction: str
) -> SummaryDraft:
    """The answer to the instruction within LONGEST_SECONDS. Raises GatewayError, BudgetSpent, RunError."""
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            return await _ask(gateway, session, cause, material, instruction)
    except TimeoutError:
        raise RunError("The model took too long.", hint=TRY_AGAIN) from None


async def _ask(
    gateway: Gateway, session: Session, cause: SpendingCause, material: Sequence[TurnValue], instruction: str
) -> SummaryDraft:
    """Asks the session's model, in as many requests as it takes for one answer."""
    body = asked = request_body(material, instruction)
    progress: ReplyProgress | None = None
    booked = list[tuple[Usage, Money | None]]()
    while True:
        reserved = await database_sync_to_async(_reserve)(session, gateway.route, body)
        progress = ReplyProgress(gateway.dialect, progress)
        paying = Paying(session, cause, gateway, reserved)
        try:
            reply = await _answer(gateway, session.model, body, progress, paying.evidence)
        except BaseException:
            await database_sync_to_async(paying.book_broken)(progress, body)
            raise
        response = progress.response(reply)
        booked.append(await database_sync_to_async(paying.book)(response, body))
        if reply.outcome is not Outcome.CONTINUES or len(booked) >= limits.HOP_LIMIT:
            break
        body = with_token(asked, reply.continuation_token)
        progress.answer.begin_hop()
    if not reply.outcome.is_answer or not reply.text.strip():
        ended = Outcome.UNFINISHED if reply.outcome is Outcome.CONTINUES else reply.outcome
        raise RunError(outcomes.sentence(ended), hint=outcomes.hint(ended) or TRY_AGAIN)
    return _drafted(reply.text.strip(), booked)


async def _answer(
    gateway: Gateway, model: str, body: bytes, progress: ReplyProgress, evidence: HttpEvidence
) -> Reply:
    """The answer with its earlier hops. Raises GatewayError."""
    async with gateway.stream(model, body, evidence) as chunks:
        async for chunk in chunks:
            progress.check_room(chunk.body)
            progress.take(chunk.ms, chunk.body)
    return progress.answer.reply()


def _drafted(text: str, booked: Sequence[tuple[Usage, Money | None]]) -> SummaryDraft:
    """The draft with the sum of what its requests cost."""
    usage = Usage(
        prompt=sum(used.prompt for used, _ in booked),
        output=sum(used.output for used, _ in booked),
        thoughts=sum(used.thoughts for used, _ in booked),
    )
    known = [money for _, money in booked if money is not None]
    return SummaryDraft(
        text,
        usage,
        sum((money.total for money in known), Decimal(0)) if len(known) == len(booked) else None,
        is_estimated=not all(used.is_counted for used, _ in booked),
        other_price=any(money.other_price for money in known),
    )


def _used_by(reply: Reply, body: bytes) -> Usage:
    """As the provider counted; our estimate where it counted nothing, as for the requests of a run."""
    if reply.usage.is_counted:
        return reply.usage
    output, thoughts = estimate(reply.text), estimate(reply.thoughts)
    return replace(reply.usage, prompt=estimate(body), output=output, thoughts=thoughts)


def request_body(material: Sequence[TurnValue], instruction: str) -> bytes:
    """The material first, the instruction last."""
    contents = [content("user", [text_part(text)]) for text in (chunk_text(material), instruction)]
    return wire.dumps({"contents": contents})


def _reserve(session: Session, route: str, body: bytes) -> Reservation | None:
    """Raises BudgetSpent, BudgetHeld."""
    usd = budgets.most_of_request(session.model, [body])
    return budgets.reserve(budgets.Spender.of(session, session.options), route, usd)


@dataclass(frozen=True, slots=True)
class Paying:
    """Who pays for a request, what is reserved for it until it is booked, and what it left as evidence."""

    session: Session
    cause: SpendingCause
    gateway: Gateway
    reserved: Reservation | None
    evidence: HttpEvidence = field(default_factory=HttpEvidence)

    @transaction.atomic
    def book(self, reply: Reply, body: bytes, *, is_cut: bool = False) -> tuple[Usage, Money | None]:
        """Books tokens and cost, also of a failed draft; returns both.

        Nothing is booked when no reply arrived. `is_cut`: as in `account_for`.
        """
        if not reply.usage.is_counted and reply.wire is None:
            self._release()
            return reply.usage, None
        session, usage = self.session, _used_by(reply, body)
        today, reported = timezone.now().date(), storable(reply.model_version, 80)
        price = price_of_served(session.model, reported, today)
        money = money_for(usage, price.rates(usage.prompt), is_cut=is_cut) if price else None
        booking = Booking.of(
            session,
            self.cause,
            source_of_answer(self.gateway, self.evidence),
            price,
            model=serving_model(session.model, reported, today),
            day=today,
            usd=money.total if money else None,
            **bounds_of(money, is_cut=is_cut),
            prompt_tokens=usage.prompt,
            cached_tokens=min(usage.cached, usage.prompt),
            output_tokens=usage.output,
            thought_tokens=usage.thoughts,
            tool_use_tokens=usage.tool_use,
        )
        Booking.objects.book(booking)
        self._release()
        return usage, money

    def book_broken(self, progress: ReplyProgress, body: bytes) -> None:
        """Books what had come when an answer broke off or took too long."""
        self.book(progress.folder.reply(), body, is_cut=True)

    def _release(self) -> None:
        if self.reserved is not None:
            Reservation.objects.filter(pk=self.reserved.pk).delete()
