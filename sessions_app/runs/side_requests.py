"""Requests beside the conversation: drafts of summaries, and titles.

They are no exchanges and not part of the history; their cost is booked like any other.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import structlog
from django.db import transaction
from django.utils import timezone

from sessions_app.context.personal_limits import check_draft
from sessions_app.database import database_sync_to_async
from sessions_app.errors import PipewebError, RunError
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import HttpEvidence
from sessions_app.markup import plain
from sessions_app.models import Booking, Reservation, Run, Session, Turn
from sessions_app.models.columns import storable
from sessions_app.models.titles import TITLE_LENGTH
from sessions_app.prompt import pricing, wire
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.detach import chunk_text
from sessions_app.prompt.parts import content, text_part
from sessions_app.prompt.payload import with_token
from sessions_app.prompt.reply import Outcome, Reply, Usage
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, model_text, user_task
from sessions_app.runs import budgets, limits
from sessions_app.runs.money_source import source_of_answer
from sessions_app.runs.reply_progress import ReplyProgress
from sessions_app.runs.serving import price_of_served, serving_model
from sessions_app.wording import outcomes

TRY_AGAIN = "Try again, or write it yourself."

LONGEST_SECONDS = 120.0
"""In which a side request is answered: a page waits for it."""

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
    """`usd` is None when the price is unknown."""

    text: str
    usage: Usage
    usd: Decimal | None

    @property
    def cost(self) -> str:
        tokens = f"{self.usage.prompt:,} prompt and {self.usage.output + self.usage.thoughts:,} output tokens"
        return f"{tokens}, {pricing.dollars(self.usd)}" if self.usd is not None else tokens


async def draft_summary(
    gateway: Gateway, session: Session, material: Sequence[TurnValue], instruction: str
) -> SummaryDraft:
    """A draft that a person asked for. Raises GatewayError, BudgetSpent, OverLimit, RunError."""
    others = _drafts[session.owner_id]
    _drafts[session.owner_id] += 1
    try:
        await database_sync_to_async(check_draft)(session.owner_id, others)
        return await _ask_in_time(gateway, session, SpendingCause.SUMMARY, material, instruction)
    finally:
        _drafts[session.owner_id] -= 1


async def _ask_in_time(
    gateway: Gateway, session: Session, cause: SpendingCause, material: Sequence[TurnValue], instruction: str
) -> SummaryDraft:
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
    booked = list[tuple[Usage, Decimal | None]]()
    while True:
        reserved = await database_sync_to_async(_reserve)(session, gateway.route, body)
        progress = ReplyProgress(gateway.dialect, progress)
        paying = Paying(session, cause, gateway, reserved)
        try:
            reply = await _answer(gateway, session.model, body, progress, paying.evidence)
        except BaseException:
            await database_sync_to_async(paying.book_broken)(progress)
            raise
        response = progress.response(reply)
        usd = await database_sync_to_async(paying.book)(response)
        booked.append((response.usage, usd))
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


def _drafted(text: str, booked: Sequence[tuple[Usage, Decimal | None]]) -> SummaryDraft:
    """The draft with the sum of what its requests cost."""
    usage = Usage(
        prompt=sum(used.prompt for used, _ in booked),
        output=sum(used.output for used, _ in booked),
        thoughts=sum(used.thoughts for used, _ in booked),
    )
    known = [usd for _, usd in booked if usd is not None]
    return SummaryDraft(text, usage, sum(known, Decimal(0)) if len(known) == len(booked) else None)


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
    def book(self, reply: Reply, *, is_cut: bool = False) -> Decimal | None:
        """Books tokens and cost, also of a failed draft; returns the cost. `is_cut`: as in `account_for`."""
        session, usage = self.session, reply.usage
        today, reported = timezone.now().date(), storable(reply.model_version, 80)
        price = price_of_served(session.model, reported, today)
        usd = pricing.cost(usage, price.rates(usage.prompt)).total if price else None
        booking = Booking.of(
            session,
            self.cause,
            source_of_answer(self.gateway, self.evidence),
            price,
            model=serving_model(session.model, reported, today),
            day=today,
            usd=usd,
            cut_off=is_cut,
            prompt_tokens=usage.prompt,
            cached_tokens=min(usage.cached, usage.prompt),
            output_tokens=usage.output,
            thought_tokens=usage.thoughts,
        )
        Booking.objects.book(booking)
        self._release()
        return usd

    def book_broken(self, progress: ReplyProgress) -> None:
        """Books what the provider had counted when an answer broke off or took too long."""
        heard = progress.folder.reply()
        if heard.usage.is_counted:
            self.book(heard, is_cut=True)
        else:
            self._release()

    def _release(self) -> None:
        if self.reserved is not None:
            Reservation.objects.filter(pk=self.reserved.pk).delete()


TITLE_INSTRUCTION = (
    "Write a summary of the conversation above as its title: at most six words, in the language of the "
    "conversation, no quotation marks, no full stop. Give only the title."
)
TITLE_SOURCE_LIMIT = 2_000
"""Characters that are sent of the question and of the answer."""

TITLE_WORDS = 10

log = structlog.get_logger("pipeweb.runs")


def wants_title(run: Run) -> bool:
    """Whether the model may have to be asked for a title after this run. No query."""
    session = run.session
    wants = session.options.auto_title == "model" and not session.temporary
    return wants and run.trigger is not None and (run.is_resumed or not run.trigger.depth)


async def improve_title(gateway: Gateway, run: Run) -> str:
    """The session's new title; empty when it keeps its title."""
    session, material = await database_sync_to_async(_title_material)(run)
    if not material:
        return ""
    try:
        draft = await _ask_in_time(gateway, session, SpendingCause.TITLE, material, TITLE_INSTRUCTION)
    except PipewebError as error:
        # The title from the first message stays.
        log.info("title_not_made", kind=type(error).__name__)
        return ""
    return await database_sync_to_async(_save_title)(session, draft.text)


def _title_material(run: Run) -> tuple[Session, list[TurnValue]]:
    """The first message and its answer; empty when no title is to be made."""
    session = run.session
    if not wants_title(run) or run.task is None or run.task.depth:
        return session, []
    answers = Turn.objects.filter(run=run, kind=TurnKind.MODEL_RESPONSE).order_by("-depth")
    answer = answers.values_list("text", flat=True).first()
    if not answer or Session.objects.filter(pk=session.pk, titled_by_hand=True).exists():
        return session, []
    return session, [
        user_task("title", run.task.text[:TITLE_SOURCE_LIMIT]),
        model_text("title", answer[:TITLE_SOURCE_LIMIT]),
    ]


def _save_title(session: Session, text: str) -> str:
    words = plain(text.strip().partition("\n")[0]).split()[:TITLE_WORDS]
    title = storable(" ".join(words), TITLE_LENGTH).rstrip(".")
    untouched = Session.objects.filter(pk=session.pk, titled_by_hand=False)
    return title if title and untouched.update(title=title) else ""
