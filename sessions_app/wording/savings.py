"""What would have saved money in a session: causes, what to change, and sums."""

from collections.abc import Sequence
from decimal import Decimal

from sessions_app.prompt.pricing import dollars
from sessions_app.prompt.saving_causes import SavingCause, ToolChange
from sessions_app.prompt.savings import Saving, Savings
from sessions_app.prompt.verdict_rules import IMPLICIT_LIFE
from sessions_app.wording.sources import source_name

TITLES = {
    SavingCause.SYSTEM_TEXT: "Text in the system instruction that changes",
    SavingCause.TOOLS: "Tools that come, go or change",
    SavingCause.CONTEXT_FIRST: "What changes stands before what stays",
    SavingCause.ORDER: "The order of the contents",
    SavingCause.SIGNATURE: "Thought signatures that did not come back",
    SavingCause.HISTORY: "A history that was rewritten",
    SavingCause.ROLLED_OVER: "History that moved into the static layer",
    SavingCause.IMPLICIT_LIFE: "Pauses longer than an implicit cache lives",
    SavingCause.EXPLICIT_LIFE: "Pauses longer than the life of an explicit cache",
    SavingCause.LET_GO: "A cache that was given up",
    SavingCause.OTHER_MODEL: "Another model or key",
    SavingCause.SETTINGS: "Settings beside the prompt that change",
    SavingCause.BELOW_MINIMUM: "Prompts too short for a cache",
    SavingCause.NEVER_CACHES: "A model that caches nothing",
    SavingCause.NAMED_LESS: "A named cache that holds less",
    SavingCause.CONTINUED: "Answers that went on in a further request",
    SavingCause.PROVIDER: "Misses of the provider",
    SavingCause.HARDLY_USED: "Explicit caches that did not pay",
    SavingCause.UNKNOWN: "A cause that is not recorded",
}

ADVICE = {
    SavingCause.SYSTEM_TEXT: "{Source} said something else in {times}: put what changes after the history, "
    "for example into the last message.",
    SavingCause.TOOLS: "The tools were other ones in {times}{tools}: declare the same tools in the same "
    "order in every request, and restrict a request by its tool configuration instead.",
    SavingCause.CONTEXT_FIRST: "{Source} changed before the history in {times}: let it change less often, "
    "or put it after the history, into the last message.",
    SavingCause.ORDER: "{Source} stood in another place in {times}, and said what it had said: send "
    "everything in the same order.",
    SavingCause.SIGNATURE: "{Source} was sent with other thought signatures, or without, in {times}: send "
    "each part back as it came.",
    SavingCause.HISTORY: "{Source} differed from what had been sent in {times}: append to the history, and "
    "neither edit nor shorten it; where it has to be shortened, do so seldom and by much.",
    SavingCause.ROLLED_OVER: "Old turns became part of the static layer in {times}: let more of them gather "
    "before they move.",
    SavingCause.IMPLICIT_LIFE: "Before {times} lay a pause of up to {pause}, and after {life} minutes "
    "without a request a prefix is probably forgotten: ask sooner, or keep the beginning in an explicit "
    "cache.",
    SavingCause.EXPLICIT_LIFE: "The explicit cache had run out before {times}, after pauses of up to "
    "{pause}: give it a longer life, or ask again before it ends.",
    SavingCause.LET_GO: "The explicit cache was deleted or not named though it could have served {times}: "
    "keep the cache, and what decides about it, while the conversation goes on.",
    SavingCause.OTHER_MODEL: "Another model was asked or answered in {times}, or another key was used, and a "
    "cache belongs to one model and key: change them at the beginning of a conversation.",
    SavingCause.SETTINGS: "Nothing but settings beside the prompt had changed before {times}: leave them "
    "as they are within a conversation.",
    SavingCause.BELOW_MINIMUM: "In {times} the prompt, or the one before it, was shorter than "
    "{minimum:,} tokens, and the provider keeps only longer ones: ask several short questions in one "
    "conversation.",
    SavingCause.NEVER_CACHES: "The model of {times} is not known to cache anything: ask one that does where "
    "a beginning is repeated.",
    SavingCause.NAMED_LESS: "{Times} named an explicit cache that holds less than the provider had reused "
    "before on its own: let the cache hold the history as well, or leave it out for a long history.",
    SavingCause.CONTINUED: "{Times} went on with a paused answer, and what the provider keeps for that it "
    "does not count: nothing in the prompt would have changed it.",
    SavingCause.PROVIDER: "In {times} the provider reused less of an unchanged beginning, or had lost its "
    "cache: nothing in the prompt would have changed it.",
    SavingCause.HARDLY_USED: "{Caches} cost {paid} to make and keep and saved {saved} at most, in {uses}: "
    "give caches a shorter life, make them only for beginnings that are asked again, or leave it to the "
    "implicit cache.",
    SavingCause.UNKNOWN: "Why {times} were served less from a cache is not recorded.",
}
"""What to change. `times` counts the requests that lost something by it."""

TIMES = {"one": "1 of {answered:,} requests", "many": "{requests:,} of {answered:,} requests"}
USES = {"none": "no request", "one": "1 request", "many": "{uses:,} requests"}
CACHES = {"one": "One explicit cache", "many": "{caches:,} explicit caches"}
PAUSES = {"seconds": "{seconds:,} seconds", "minutes": "{minutes:,} minutes", "hours": "{hours:,} hours"}
OTHERS = {
    "none": "{source}",
    "one": "{source} (and another source)",
    "many": "{source} (and {others:,} others)",
}
NO_SOURCE = "what was sent"

TOOLS = {
    "came": "{names} came",
    "went": "{names} went",
    "changed": "{names} changed",
    "order": "nothing but their order differs",
}
TOOLS_OF = {"known": " (in request {number:,}: {changes})", "unknown": ""}
NAMES_SHOWN = 4
NAMES = {"all": "{names}", "more": "{names} and {more:,} more"}

AT_MOST = {"known": "≤\u00a0{cost}", "unknown": "unknown"}

PARTS_OF = {
    "none": "The provider has counted no prompt of this session that is still here.",
    "one": "Of the one request that was counted.",
    "all": "Of all {read:,} requests that were counted.",
    "newest": "Of the newest {read:,} of {counted:,} requests that were counted.",
}

SUMS = {
    "lost": "All in all {cost}{tokens}.",
    "tokens": "; {tokens:,} tokens that had been cached were paid anew",
    "others": "{causes:,} further {word}: {cost}.",
    "nothing": "No request was served less from a cache than the one before it.",
    "nothing_known": "No loss is known.",
    "nothing_sent": "No request has been answered here yet.",
    "requests": "A cause is said of the requests that lost something by it; where it cost nothing, it is "
    "not counted.",
    "unknown": "What {times} lost is not known, so the sums are lower bounds.",
    "unpriced": "Some tokens have no known price, so the sums in dollars are lower bounds.",
    "unknown_caches": "What some explicit caches cost or saved is not known; they are not counted.",
    "missed": "All in all {cost} for {tokens:,} tokens, which were sent anew behind a change. It may be "
    "less, since a provider need not keep what it was sent.",
    "emulated": "The emulator counted these tokens: it is what they would have cost.",
}


def title(cause: SavingCause) -> str:
    return TITLES[cause]


def advice(saving: Saving, answered: int, tools: ToolChange | None = None) -> str:
    """The sentence what to change; `tools` is what happened to them in the request that lost most."""
    times, source = _times(saving.requests, answered), _source(saving)
    return ADVICE[saving.cause].format(
        times=times,
        Times=_capital(times),
        Source=_capital(source),
        pause=_pause(saving.idle_seconds),
        life=round(IMPLICIT_LIFE.total_seconds() / 60),
        minimum=saving.minimum,
        tools=_tools(saving, tools),
        Caches=_plural(CACHES, saving.caches).format(caches=saving.caches),
        uses=_plural(USES, saving.requests).format(uses=saving.requests),
        paid=dollars(saving.paid),
        saved=dollars(saving.saved),
    )


def total(cost: str, tokens: int) -> str:
    counted = SUMS["tokens"].format(tokens=tokens) if tokens else ""
    return SUMS["lost"].format(cost=cost, tokens=counted)


def missed_total(missed: Sequence[Saving]) -> str:
    """The total of what could have been reused, an upper bound."""
    usd = sum((one.usd for one in missed), Decimal(0))
    cost = AT_MOST["unknown" if any(one.unpriced for one in missed) else "known"].format(cost=dollars(usd))
    return SUMS["missed"].format(cost=cost, tokens=sum(one.tokens for one in missed))


def at_most(saving: Saving) -> str:
    """Its cost as an upper bound; unknown where a price is."""
    return AT_MOST["unknown" if saving.unpriced else "known"].format(cost=dollars(saving.usd))


def parts_of(read: int, counted: int) -> str:
    """Says which requests the costs of the parts are from."""
    key = "newest" if read < counted else ("none", "one")[read] if read < 2 else "all"
    return PARTS_OF[key].format(read=read, counted=counted)


def emulated() -> str:
    """Says that nobody paid these sums."""
    return SUMS["emulated"]


def others(causes: int, cost: str) -> str:
    return SUMS["others"].format(causes=causes, word="cause" if causes == 1 else "causes", cost=cost)


def nothing(savings: Savings) -> str:
    """Where no loss is known."""
    if not savings.answered:
        return SUMS["nothing_sent"]
    return SUMS["nothing" if savings.is_whole else "nothing_known"]


def remarks(savings: Savings, *, is_emulated: bool) -> list[str]:
    """What has to be known of the sums."""
    said = {
        "requests": bool(savings.causes),
        "unknown": savings.unknown > 0,
        "unpriced": any(one.unpriced for one in savings.causes),
        "unknown_caches": savings.unknown_caches > 0,
        "emulated": is_emulated and bool(savings.causes or savings.missed),
    }
    times = _times(savings.unknown, savings.answered)
    return [SUMS[key].format(times=times) for key, holds in said.items() if holds]


def _times(requests: int, answered: int) -> str:
    return _plural(TIMES, requests).format(requests=requests, answered=answered)


def _source(saving: Saving) -> str:
    if not saving.source:
        return NO_SOURCE
    name = source_name(saving.source, saving.source_number)
    return _plural(OTHERS, saving.other_sources).format(source=name, others=saving.other_sources)


def _pause(seconds: float) -> str:
    minutes = round(seconds / 60)
    key = "seconds" if seconds < 120 else "minutes" if minutes < 120 else "hours"
    return PAUSES[key].format(seconds=round(seconds), minutes=minutes, hours=round(minutes / 60))


def _tools(saving: Saving, change: ToolChange | None) -> str:
    if change is None or saving.largest is None:
        return TOOLS_OF["unknown"]
    found = {"came": change.came, "went": change.went, "changed": change.changed}
    said = [TOOLS[key].format(names=_names(names)) for key, names in found.items() if names]
    return TOOLS_OF["known"].format(number=saving.largest, changes=", ".join(said) or TOOLS["order"])


def _names(names: tuple[str, ...]) -> str:
    shown, more = ", ".join(f"“{name}”" for name in names[:NAMES_SHOWN]), len(names) - NAMES_SHOWN
    return NAMES["more" if more > 0 else "all"].format(names=shown, more=more)


def _plural(forms: dict[str, str], count: int) -> str:
    return forms["none"] if count == 0 and "none" in forms else forms["one" if count == 1 else "many"]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
