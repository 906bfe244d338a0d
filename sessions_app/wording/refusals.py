"""Why a request was not made or an answer not read: a sentence for each RefusalCode, and what to do."""

from collections.abc import Mapping, Sequence
from typing import Any

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import (
    CacheGone,
    NoAnswer,
    PipewebError,
    RequestRefused,
    SignatureMissing,
    SignatureRefused,
)
from sessions_app.prompt.history import HistoryRule
from sessions_app.prompt.pricing import Budget
from sessions_app.wording import budgets, capture, outcomes
from sessions_app.wording.sentences import fill

SENTENCES: dict[str, str] = {
    RefusalCode.NO_TURNS: "There is nothing to send: no turn is left.",
    RefusalCode.CHAT_ERASED: "Nothing was sent: the chat has just been deleted for good.",
    RefusalCode.NO_TRIGGER: "There is nothing to answer: the last turn is not a message or a tool response.",
    RefusalCode.EMPTY_TRIGGER: "There is nothing to answer: the message is empty.",
    RefusalCode.EMPTY_BODY: "There is nothing to count in an empty body.",
    RefusalCode.EMPTY_TURN: "Turn {turn} has no parts and cannot be sent.",
    RefusalCode.EMPTY_PART: "Turn {turn} holds an empty part and cannot be sent.",
    RefusalCode.ENDS_WITH_MODEL: (
        "The request would end with the model's own words; a message or tool responses must come last."
    ),
    RefusalCode.BEGINS_WITH_RESULTS: "The history begins with tool responses whose calls are not sent.",
    RefusalCode.UNANSWERED_CALLS: "The calls of turn {turn} are not answered right after it.",
    RefusalCode.UNASKED_RESULTS: "The tool responses of turn {turn} do not follow their calls.",
    RefusalCode.UNORDERED_RESULTS: "The tool responses of turn {turn} are not in call order.",
    RefusalCode.RESULTS_OF_MODEL: "The tool responses of turn {turn} stand in a model turn.",
    RefusalCode.CALLS_AFTER_MODEL: "The calls of turn {turn} come right after another model turn.",
    RefusalCode.NAIVE_CLOCK: "The time of the request has no time zone.",
    RefusalCode.TWO_THINKING_SETTINGS: "Only one of thinking level and thinking budget can be set.",
    RefusalCode.UNEQUAL_RESULTS: "Turn {turn} has {calls} calls, but turn {following} answers {results}.",
    RefusalCode.UNSIGNED_FIRST_CALL: "The first call of turn {turn} (part {part}) lacks its thought.",
    RefusalCode.REPEATED_KEYS: "The same {what} would be sent twice: {keys}.",
    RefusalCode.PANEL_KEY_RESERVED: "Nothing in the context can be called {key}: that key is the clock.",
    RefusalCode.HISTORY_INVALID: "The request was not sent: the history breaks {rules}.",
    RefusalCode.BUDGET_SPENT: "{state}",
    RefusalCode.BUDGET_HELD: "{state}",
    RefusalCode.MAX_ROUNDS: "A guard rail ended this: {spent} rounds of tools of at most {limit}.",
    RefusalCode.MAX_TOKENS: "A guard rail ended this: {spent:,} tokens of at most {limit:,}.",
    RefusalCode.MAX_USD: "A guard rail ended this: ${spent:.4f} of at most ${limit:.2f}.",
    RefusalCode.MAX_SECONDS: "A guard rail ended this: {spent:,.0f} seconds of at most {limit:,}.",
    RefusalCode.MAX_CONTINUATIONS: (
        "It went on by itself {spent} times of at most {limit} since the last message."
    ),
    RefusalCode.MAX_HOPS: "The answer is not done after {spent} requests, of at most {limit}.",
    RefusalCode.EVENT_TOO_LARGE: "An event of the answer has more than {limit:,} bytes.",
    RefusalCode.ANSWER_TOO_LARGE: "The answer has more than {limit:,} bytes.",
    RefusalCode.ANSWER_TOO_COMPLEX: (
        "An event of the answer is nested deeper than {levels} levels, or holds more than {containers:,} "
        "lists and objects."
    ),
    RefusalCode.ANSWER_COMPRESSED: "The answer came compressed ({encoding}), which was not asked for.",
    RefusalCode.ANSWER_UNREADABLE: "An answer came that could not be read.",
    RefusalCode.RUNS_AT_ONCE: "Answers running: {used:,}. Your limit is {limit:,} at once.",
    RefusalCode.SENDS_PER_MINUTE: "Messages sent in the last minute: {used:,}. Your limit is {limit:,}.",
    RefusalCode.SOCKETS: "Chat pages open: {used:,}. Your limit is {limit:,}.",
    RefusalCode.UPLOAD_MB_PER_DAY: "Uploaded today: {used:,} MB. Your limit is {limit:,} MB a day.",
    RefusalCode.STORAGE_MB: "Stored for you: {used:,} MB. Your limit is {limit:,} MB.",
    RefusalCode.SESSIONS: "Chats: {used:,}. Your limit is {limit:,}.",
    RefusalCode.SHARED_LINKS: "Shared links: {used:,}. Your limit is {limit:,}.",
    RefusalCode.IMPORTS_AT_ONCE: "Imports under way: {used:,}. Your limit is {limit:,} at once.",
}

LIMIT_HINT = (
    "What was done is kept. Continue or write a message to go on with a new count, or change the limit in "
    "the chat's settings (“Limits”)."
)

BOUND_HINT = "It was not read further; what had arrived is kept. Ask again, or for less at once."

HINTS: dict[str, str] = {
    RefusalCode.UNSIGNED_FIRST_CALL: (
        "Prepare the history for the route before sending: the call then gets a stand-in."
    ),
    RefusalCode.HISTORY_INVALID: (
        "{breaches} Repair the history, or let this chat repair it by itself (settings)."
    ),
    RefusalCode.BUDGET_SPENT: "The request was not sent. {remedy}",
    RefusalCode.BUDGET_HELD: "The request was not sent. {remedy}",
    RefusalCode.MAX_ROUNDS: LIMIT_HINT,
    RefusalCode.MAX_TOKENS: LIMIT_HINT,
    RefusalCode.MAX_USD: LIMIT_HINT,
    RefusalCode.MAX_SECONDS: LIMIT_HINT,
    RefusalCode.MAX_CONTINUATIONS: "Write a message to go on.",
    RefusalCode.MAX_HOPS: "What arrived is kept. Write a message to go on.",
    RefusalCode.EVENT_TOO_LARGE: BOUND_HINT,
    RefusalCode.ANSWER_TOO_LARGE: BOUND_HINT,
    RefusalCode.ANSWER_TOO_COMPLEX: BOUND_HINT,
    RefusalCode.ANSWER_COMPRESSED: "It was not read. Turn compression off at the endpoint or its proxy.",
    RefusalCode.RUNS_AT_ONCE: "{room}",
    RefusalCode.SENDS_PER_MINUTE: "{room}",
    RefusalCode.SOCKETS: "{room}",
    RefusalCode.UPLOAD_MB_PER_DAY: "{room}",
    RefusalCode.STORAGE_MB: "{room}",
    RefusalCode.SESSIONS: "{room}",
    RefusalCode.SHARED_LINKS: "{room}",
    RefusalCode.IMPORTS_AT_ONCE: "{room}",
}
"""What to do about it, for those where there is something to do."""

ROOM: dict[str, str] = {
    RefusalCode.RUNS_AT_ONCE: "The next may start when one of them ends; you can stop one.",
    RefusalCode.SENDS_PER_MINUTE: "The next can be sent in {seconds} s.",
    RefusalCode.SOCKETS: "Close one: this page then connects by itself.",
    RefusalCode.UPLOAD_MB_PER_DAY: "The count begins anew at 00:00 UTC, in {hours} h {minutes} min.",
    RefusalCode.STORAGE_MB: "Remove files from your workspace, or ask an administrator for more.",
    RefusalCode.SESSIONS: "Delete one that you no longer need, or ask an administrator for more.",
    RefusalCode.SHARED_LINKS: "Revoke one that you no longer need, or ask an administrator for more.",
    RefusalCode.IMPORTS_AT_ONCE: "Wait until one of them is done, or cancel one.",
}
"""How there is room again under a personal limit …"""

NO_ROOM = {"hint": "Ask an administrator for more."}
"""… that is not 0, and that what was asked for does not exceed by itself."""

TIMED = (RefusalCode.SENDS_PER_MINUTE, RefusalCode.UPLOAD_MB_PER_DAY)
"""Limits under which there is room after `seconds`; without that figure there never is."""

RULES = {"one": "a rule", "several": "{count} rules"}

BREACHES: dict[str, str] = {
    HistoryRule.UNANSWERED: "{Subject} is not followed by its tool results at once.",
    HistoryRule.IDS: "{Subject} has no tool result for “{missing}”.",
    HistoryRule.ORPHAN: "{Subject} stands without the call that asked for it.",
    HistoryRule.SEQUENCE: "{Subject} comes right after {before}, before any answer.",
    HistoryRule.EMPTY: "A message of the history holds nothing.",
    HistoryRule.CALL_AFTER_MODEL: "The model calls a tool right after an answer of its own.",
    HistoryRule.COUNT: "The number of tool results is not the number of calls.",
    HistoryRule.ORDER: "The tool results do not stand in the order of the calls.",
    HistoryRule.MISPLACED: "A call or a tool result stands on the wrong side.",
}
"""One sentence for each rule that a history can break."""

UNASKED: dict[str, str] = {HistoryRule.IDS: "{Subject} answers “{unasked}”, which was not called."}
"""For a result without a call."""

PROGRAM_HINTS: dict[str, str] = {
    SignatureMissing.__name__: "The Signatures tab of the request shows which of them were sent back.",
    SignatureRefused.__name__: "The Signatures tab of the request shows where they came from.",
    CacheGone.__name__: "The Cache tab of the request shows what became of it, as far as it was seen.",
}
"""What an engineer can look at, by the kind of the error that a captured program was answered with."""

MESSAGES = {
    "call": "the call of {named}",
    "answer": "the answer {named}",
    "results": "the tool result of {named}",
    "message": "the message {named}",
}
"""How a sentence names a message of the history."""


def refusal_texts(reason: str, figures: Mapping[str, Any]) -> tuple[str, str]:
    """The sentence and the hint for a RefusalCode with its figures."""
    known = {**figures, **_derived(reason, figures)}
    return fill(SENTENCES.get(reason, reason), known, otherwise=reason), fill(HINTS.get(reason, ""), known)


def lasting_hint(reason: str) -> str:
    """The hint without figures; empty where they belong to it, and for anything but a RefusalCode."""
    hint = HINTS.get(reason, "")
    hint = ROOM.get(reason, "") if hint == "{room}" else hint
    return "" if "{" in hint else hint


def stored_error_texts(error: Mapping[str, Any], *, is_captured: bool = False) -> tuple[str, str]:
    """Sentence and hint of `Run.error` or `Exchange.error`: by code, or as a provider or an earlier
    version put it. Stored hints speak to a person in a chat; a captured program gets others.
    """
    figures, reason = error.get("figures"), str(error.get("reason") or "")
    if error.get("kind") == "RelayRefused":
        return capture.fault(reason), ""
    if reason in SENTENCES:
        return refusal_texts(reason, figures if isinstance(figures, dict) else {})
    if reason in outcomes.SENTENCES:
        return outcomes.sentence(reason, figures if isinstance(figures, dict) else {}), outcomes.hint(reason)
    hint = PROGRAM_HINTS.get(str(error.get("kind")), "") if is_captured else str(error.get("hint") or "")
    return str(error.get("message") or ""), hint


def error_texts(error: PipewebError) -> tuple[str, str]:
    """Sentence and hint of any of our errors."""
    if isinstance(error, RequestRefused):
        return refusal_texts(error.reason, error.figures)
    if isinstance(error, NoAnswer):
        return outcomes.sentence(error.reason, error.figures), outcomes.hint(error.reason)
    return error.message, error.hint


def breach(figures: Mapping[str, str]) -> str:
    """The sentence for a broken rule; `figures` are those of a stored `prompt.history.Violation`."""
    subject, rule = _named(figures, ""), figures.get("rule", "")
    known = {**figures, "Subject": subject[:1].upper() + subject[1:], "before": _named(figures, "before_")}
    return fill((UNASKED if "unasked" in figures else BREACHES).get(rule, rule), known, otherwise=rule)


def _derived(reason: str, figures: Mapping[str, Any]) -> dict[str, str]:
    if reason in (RefusalCode.BUDGET_SPENT, RefusalCode.BUDGET_HELD):
        budget = Budget.restored(figures)
        return {"state": budgets.state(budget), "remedy": budgets.remedy(budget)} if budget else {}
    if reason in ROOM:
        return {"room": _room(reason, figures)}
    if reason == RefusalCode.HISTORY_INVALID:
        broken: Sequence[Mapping[str, str]] = figures.get("violations", ())
        rules = RULES["one" if len(broken) == 1 else "several"].format(count=len(broken))
        return {"rules": rules, "breaches": " ".join(map(breach, broken))}
    return {}


def _room(reason: str, figures: Mapping[str, Any]) -> str:
    seconds: int | None = figures.get("seconds")
    if figures.get("limit") == 0 or (reason in TIMED and seconds is None):
        return NO_ROOM["hint"]
    minutes = (seconds or 0) // 60
    return ROOM[reason].format(seconds=seconds, hours=minutes // 60, minutes=minutes % 60)


def _named(figures: Mapping[str, str], prefix: str) -> str:
    known = MESSAGES.get(figures.get(f"{prefix}what", ""), "")
    return known.format(named=figures.get(f"{prefix}named", ""))
