"""The header of an exchange's page, and the badges of its verdict and its end."""

from dataclasses import dataclass

from sessions_app.exchange_sums import is_cut_off, money_of
from sessions_app.inspector import formatting
from sessions_app.inspector.formatting import thousands
from sessions_app.inspector.list_state import exchange_state
from sessions_app.inspector.received import Received, received_so_far
from sessions_app.inspector.stages import RemarkGroup, grouped, notes_of
from sessions_app.models import Exchange
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.chunks import Usage, candidates_asked_for
from sessions_app.prompt.pricing import dollars
from sessions_app.prompt.reply import Outcome
from sessions_app.prompt.verdict import MEANINGS
from sessions_app.ribbon import Ribbon, ribbon_of
from sessions_app.wording import costs, outcomes, resends, usage, verdicts
from sessions_app.wording.refusals import stored_error_texts


@dataclass(frozen=True, slots=True)
class BadgeView:
    """`tone` is a CSS class; `meaning` is the sentence behind the label."""

    label: str
    tone: str
    meaning: str


def verdict_of(exchange: Exchange) -> BadgeView | None:
    if not exchange.verdict:
        return None
    meaning = verdicts.sentence(
        exchange.found_verdict, exchange.earlier("verdict"), is_captured=exchange.is_captured
    )
    tone = MEANINGS[VerdictCode(exchange.verdict)].tone
    return BadgeView(verdicts.label(exchange.verdict), tone, formatting.visible(meaning))


def end_of(exchange: Exchange, received: Received) -> BadgeView:
    """The error of the exchange, else its outcome, else what of its answer has come."""
    if exchange.error:
        code = exchange.error.get("code")
        label = f"error {code}" if code else "error"
        return BadgeView(label, "bad", formatting.visible(stored_error_texts(exchange.error)[0]))
    if exchange.outcome:
        return outcome_of(exchange)
    if exchange.is_open and received.count:
        counted = f"{thousands(received.count)} chunk{'' if received.count == 1 else 's'}"
        return BadgeView("streaming", "accent", f"The answer is coming: {counted} so far.")
    if exchange.is_open:
        return BadgeView("waiting", "accent", "No answer has come yet.")
    return BadgeView("ended", "", "")


def outcome_of(exchange: Exchange) -> BadgeView:
    value = exchange.outcome
    label = value.replace("_", " ")
    try:
        outcome = Outcome(value)
    except ValueError:
        # Written by a version with other outcomes.
        return BadgeView(label, "warn", "")
    tone = "good" if outcome in (Outcome.COMPLETE, Outcome.CALLS, Outcome.CONTINUES) else "warn"
    return BadgeView(label, tone, ending_of(exchange, outcome))


def ending_of(exchange: Exchange, outcome: str) -> str:
    """What happened to its answer, which ended so."""
    # Several requests of a program are one run: its status is not that of each.
    status = "" if exchange.is_captured else exchange.run.status
    return outcomes.sentence_in(status, outcome)


@dataclass(frozen=True, slots=True)
class Header:
    ribbon: Ribbon
    verdict: BadgeView | None
    end: BadgeView
    hint: str
    """What was done or is to do about an error."""
    equation: str
    previous: int | None
    """The number of the exchange before this one; None for the first."""
    following: int | None
    resent: str
    """Why the request repeats an earlier one; empty where it does not."""
    candidates: str
    """What came of several answers that the request asked for; empty where it asked for one."""
    notes: tuple[RemarkGroup, ...]
    received: Received
    """What has come of an answer that is not complete."""
    first_chunk_ms: float | None
    price: str
    """Empty while the exchange is open."""
    state: str
    is_live: bool
    """The page may change: the exchange is open, its run goes on, or the next one may follow."""


def header_of(exchange: Exchange) -> Header:
    """Read with a fixed number of queries, one more for an exchange that failed."""
    received, is_newest = received_so_far(exchange), exchange.number >= exchange.session.exchange_count
    number = exchange.number
    neighbours = Exchange.objects.filter(session=exchange.session_id, number__in=(number - 1, number + 1))
    numbers = set(neighbours.values_list("number", flat=True))
    failed = exchange.resend_of
    return Header(
        ribbon_of(exchange),
        verdict_of(exchange),
        end_of(exchange, received),
        hint_of(exchange),
        equation_of(exchange),
        number - 1 if number - 1 in numbers else None,
        number + 1 if number + 1 in numbers else None,
        resends.reason(failed.error, failed.number, is_captured=exchange.is_captured) if failed else "",
        outcomes.candidates_asked(candidates_asked_for(exchange.manifest.get("settings"))),
        grouped(notes_of(exchange)),
        received,
        received.first_ms if exchange.is_open else exchange.first_chunk_ms,
        price_of(exchange),
        state=exchange_state(
            is_open=exchange.is_open,
            chunks=received.count,
            is_active=exchange.run.is_active,
            is_newest=is_newest,
        ),
        is_live=exchange.is_open or exchange.run.is_active or is_newest,
    )


def hint_of(exchange: Exchange) -> str:
    """What to do about its error: one query. Where another exchange repeats it, that was done; the hint to a
    program's developer may still help.
    """
    if not exchange.error:
        return ""
    hint = formatting.visible(stored_error_texts(exchange.error, is_captured=exchange.is_captured)[1])
    again = exchange.resends.order_by("number").values_list("number", flat=True).first()
    if again is None:
        return hint
    return f"{resends.resent_in(again)} {hint if exchange.is_captured else ''}".strip()


def price_of(exchange: Exchange) -> str:
    """What it cost, and how sure that is."""
    if exchange.usd is None and exchange.prompt_tokens is None:
        return "" if exchange.first_chunk_ms is None else "nothing was counted"
    if exchange.usd is None:
        return "price unknown"
    money, price = money_of(exchange), dollars(exchange.usd)
    if money is None:
        return price
    if money.other_price:
        return costs.priced(price, is_standard_text=False)
    return f"at least {price}" if money.is_bound else f"about {price}" if money.estimated else price


def equation_of(exchange: Exchange) -> str:
    """The usage, as in "1,204 prompt = 180 new + 1,024 cached; 96 output + 40 thoughts"."""
    if exchange.prompt_tokens is None and exchange.is_open:
        return "The provider has not counted yet."
    if exchange.prompt_tokens is None:
        return "The provider reported no usage."
    prompt = usage.prompt(exchange.prompt_tokens, exchange.cached_tokens or 0)
    tools = Usage.of(exchange.usage).tool_use
    answer = usage.answer(exchange.output_tokens or 0, exchange.thought_tokens or 0, tools)
    many = "" if exchange.searches == 1 else "es"
    searches = f" + {thousands(exchange.searches)} search{many}" if exchange.searches else ""
    counted = f"{prompt}; {answer}{searches}"
    return usage.as_counted(counted, is_cut_off=is_cut_off(exchange))
