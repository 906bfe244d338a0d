"""What a person should know of a request: one sentence for each RemarkCode."""

from collections.abc import Callable, Sequence
from typing import Any

from sessions_app.prompt.pricing import Budget
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.routes import endpoint_of, family_of
from sessions_app.prompt.templates import Rendered, RenderFailure
from sessions_app.prompt.turns import IMPORTED
from sessions_app.wording import budgets, panel_facts, provider_tools, refusals
from sessions_app.wording.sentences import fill, quoted

Figures = dict[str, Any]

SENTENCES: dict[str, str] = {
    RemarkCode.TEXT_FELL_BACK: "{title} was sent as it was written: {where}{reason}",
    RemarkCode.TEXT_RENDERED: "{title} was rendered",
    RemarkCode.TEXT_UNDEFINED: "{title} names what has no value: {names}",
    RemarkCode.TEXT_BREAKS_CACHE: (
        "{title} line {line} uses {path}: it breaks the cache of the whole static layer {how_often}"
    ),
    RemarkCode.TEXT_IS_DYNAMIC: "{title} stands in the dynamic layer",
    RemarkCode.ARGUMENTS_NO_OBJECT: "The session's arguments are not an object; none is used.",
    RemarkCode.ARGUMENTS_TOO_DEEP: (
        "The session's arguments are nested more than {most} levels deep; none is used."
    ),
    RemarkCode.ARGUMENT_EMPTY_SEGMENT: "“{name}” has an empty segment between its dots and is not used.",
    RemarkCode.ARGUMENT_UNNAMEABLE: '“{name}” cannot be written as a name: use {{{{ args["{name}"] }}}}.',
    RemarkCode.ARGUMENT_DROPPED: "“{name}” is not used beside “{other}”: keep one of the two.",
    RemarkCode.ARGUMENT_TWICE: "“{name}” has two values: one of them is not used.",
    RemarkCode.ARGUMENT_WINS: "“{name}” is a reserved name: the session's argument takes its place.",
    RemarkCode.ARGUMENT_LOSES: (
        "“{name}” is a reserved name: what is known of it wins over the session's argument."
    ),
    RemarkCode.ARGUMENT_MERGED: "“{name}” is a reserved name: the argument is merged into args itself.",
    RemarkCode.DESCRIPTION_FELL_BACK: "The assistant's description is used as it was written: {reason}.",
    RemarkCode.CALL_UNANSWERED: "The call of {quoted} had no result: an error stands in.",
    RemarkCode.TURN_EMPTY: "The turn held nothing that can be sent.",
    RemarkCode.PARTS_REMOVED: "Parts that held nothing or stood on the wrong side are left out.",
    RemarkCode.RESULTS_REORDERED: "The results stand in the order of the calls now.",
    RemarkCode.RESULT_UNASKED: "A result of “{name}” answers no call.",
    RemarkCode.RESULTS_ORPHANED: "A tool result stood without the call that asked for it.",
    RemarkCode.TURN_ORPHANED: "A tool result stood without the call that asked for it; it held nothing else.",
    RemarkCode.ANSWER_INSERTED: (
        "A message followed a tool result directly: a short answer stands between them."
    ),
    RemarkCode.MESSAGE_INSERTED: (
        "A call followed the model's own answer directly: a short message stands between them."
    ),
    RemarkCode.SIGNATURE_REMOVED: "This signature is of another model, key or address.",
    RemarkCode.SIGNATURE_PART_DROPPED: (
        "This signature is of another model, key or address. The part held nothing else."
    ),
    RemarkCode.SIGNATURE_FOREIGN: (
        "The signature of this call is of another model, key or address; the model demands one here."
    ),
    RemarkCode.SIGNATURE_LOST: "The signature of this call is lost; the model demands one here.",
    RemarkCode.SIGNATURE_REFUSED: "The provider refused this signature in {where}.",
    RemarkCode.REFUSED_PART_DROPPED: (
        "The provider refused this signature in {where}. The part held nothing else."
    ),
    RemarkCode.REFUSED_CALL: (
        "The provider refused the signature of this call in {where}; the model demands one here."
    ),
    RemarkCode.IMPORTED_SIGNATURE: "Imported with a signature of an unknown model and key; it is not sent.",
    RemarkCode.IMPORTED_PART_DROPPED: (
        "Imported with a signature of an unknown model and key; it is not sent. The part held nothing else."
    ),
    RemarkCode.IMPORTED_CALL: (
        "Imported with a signature of an unknown model and key, not sent; the model demands one here."
    ),
    RemarkCode.IMPORTED_UNSIGNED: "Imported without a signature; the model demands one here.",
    RemarkCode.UNSIGNED_CALL: "The first call of this step has no signature.",
    RemarkCode.STAND_IN_SENT: "A stand-in is sent instead of the model's own signature.",
    RemarkCode.UNSIGNED_ANSWER: (
        "The newest model turn has thoughts and no signature, so the model cannot take them up."
    ),
    RemarkCode.MODEL_UNKNOWN: (
        "“{model}” is not in the capability table. It is taken for a model of its generation, "
        "{caches} explicit caches; an admin can enter what is true of it."
    ),
    RemarkCode.MODEL_ROUTED: (
        "“{model}” was expected from “{expected}” and came from “{served}”: the facts, signatures and "
        "caches of the latter hold."
    ),
    RemarkCode.PANEL_READ: "{panel}: {facts}",
    RemarkCode.PANEL_SINCE: "{panel}: since {since} UTC",
    RemarkCode.LEFT_OUT: "{sentence}",
    RemarkCode.CHUNK_FROZEN: "Chunk {chunk}: about {tokens:,} tokens.",
    RemarkCode.NOTIFICATION: "[N{number}] {label} — {text}",
    RemarkCode.BUDGET_NEAR: "{state}",
    RemarkCode.EARLIER_WORDING: "{text}",
}

LABELS: dict[str, str] = {
    RemarkCode.CALL_UNANSWERED: "answered",
    RemarkCode.TURN_EMPTY: "dropped",
    RemarkCode.PARTS_REMOVED: "removed",
    RemarkCode.RESULTS_REORDERED: "reordered",
    RemarkCode.RESULT_UNASKED: "removed",
    RemarkCode.RESULTS_ORPHANED: "removed",
    RemarkCode.TURN_ORPHANED: "dropped",
    RemarkCode.ANSWER_INSERTED: "filled",
    RemarkCode.MESSAGE_INSERTED: "filled",
    RemarkCode.SIGNATURE_REMOVED: "removed",
    RemarkCode.SIGNATURE_PART_DROPPED: "dropped",
    RemarkCode.SIGNATURE_FOREIGN: "dummy",
    RemarkCode.SIGNATURE_LOST: "dummy",
    RemarkCode.SIGNATURE_REFUSED: "removed",
    RemarkCode.REFUSED_PART_DROPPED: "dropped",
    RemarkCode.REFUSED_CALL: "dummy",
    RemarkCode.IMPORTED_SIGNATURE: "removed",
    RemarkCode.IMPORTED_PART_DROPPED: "dropped",
    RemarkCode.IMPORTED_CALL: "dummy",
    RemarkCode.IMPORTED_UNSIGNED: "dummy",
    RemarkCode.UNSIGNED_CALL: "unsigned call",
    RemarkCode.STAND_IN_SENT: "dummy",
    RemarkCode.UNSIGNED_ANSWER: "unsigned answer",
}
"""Short names of repairs and findings."""

PLACES = {
    "turn": "Turn {turn}: {sentence}",
    "part": "Turn {turn}, part {part}: {sentence}",
    "turns": "Turns {turns}: {sentence}",
    "many_turns": "Turns {turns} and {more} more: {sentence}",
    "unnumbered_turn": "A turn: {sentence}",
    "unnumbered_part": "A turn, part {part}: {sentence}",
    "line": "line {line}: ",
}

TURNS_SHOWN = 12
"""Numbers at most in one sentence about several turns."""

RENDER_FAILURES: dict[str, str] = {
    RenderFailure.TOO_SLOW: "rendering it takes more than {limit:g} s",
    RenderFailure.TOO_MUCH_MEMORY: "rendering it takes more than {limit:g} MB",
    RenderFailure.TOO_LARGE: "the texts and arguments of the request have more than {limit:,.0f} characters",
    RenderFailure.NO_TIME: "the {limit:g} s for rendering were used up before it was done",
}
"""Why a text was sent as it was written, where the template engine does not say it."""

RATES = {"daily": "once a day", "always": "with every message"}
"""How often a volatile value changes (`prompt.templates`)."""

CACHES = {True: "with", False: "without"}

REFUSED_IN = {"here": "exchange {exchange}", "elsewhere": "another session"}
"""Where the provider refused a signature; a fork has the turns of the exchange, not the exchange."""

NOTIFICATION_LABELS: dict[str, str] = {
    "user_message": "message",
    "reload_resume": "interrupted",
    "todo_incomplete": "todos open",
    "max_tokens_truncated": "answer cut",
    "context_threshold": "context filling up",
    "guard_rail": "guard rail",
    "custom": "notice",
}

NOTIFICATION_HINTS: dict[str, str] = {"context_threshold": "Close files, or begin a new session."}
"""What the person can do, where the reason of a reached limit does not say it (`refusals`)."""

ONE_TEXT = {
    "fell_back": "1 text is sent as written: {titles}.",
    "breaking": "1 text breaks the cache: {titles}.",
}
SEVERAL_TEXTS = {
    "fell_back": "{count} texts are sent as written: {titles}.",
    "breaking": "{count} texts break the cache: {titles}.",
}
"""About the texts of a session, before anything is sent."""

ELSEWHERE = {
    "model": "{signer} signed it, and exchange {number} was meant for {reader}; a signature is sent back to "
    "the model that made it only.",
    "endpoint": "It was signed for another key or address than that of exchange {number}; a signature is "
    "sent back to where it came from only.",
    "imported": "Which model signed it, and with what key, is unknown, so exchange {number} went without it.",
}
"""Why a request had no signature of another route."""


def sentence(remark: Remark) -> str:
    """The remark as a sentence; a code that is not known here as it is."""
    if remark.code in refusals.SENTENCES:
        return " ".join(filter(None, refusals.refusal_texts(remark.code, remark.figures)))
    known = SENTENCES.get(remark.code)
    otherwise = str(remark.figures.get("text") or remark.code.replace("_", " "))
    if known is None:
        return otherwise
    derived = _derivations.get(remark.code)
    figures = remark.figures | derived(remark.figures) if derived else remark.figures
    return fill(known, figures, otherwise=otherwise)


def sentence_at(remark: Remark, number: int = 0) -> str:
    """The sentence behind the turn and the part it is about; `number` is the turn's, 0 if it has none."""
    text = sentence(remark)
    if not remark.turn:
        return text
    key = "turn" if remark.part is None else "part"
    place = PLACES[key if number else f"unnumbered_{key}"]
    return place.format(turn=number, part=(remark.part or 0) + 1, sentence=text)


def sentence_over(remark: Remark, numbers: Sequence[int]) -> str:
    """The same sentence of several turns, at least one, by their numbers."""
    shown, more = numbers[:TURNS_SHOWN], len(numbers) - TURNS_SHOWN
    key = "turn" if len(numbers) == 1 else "many_turns" if more > 0 else "turns"
    turns = ", ".join(map(str, shown))
    return PLACES[key].format(turn=numbers[0], turns=turns, more=more, sentence=sentence(remark))


def foreign(number: int, made_on: str, sent_on: str) -> str:
    """Why the exchange `number` had no signature of the route `made_on`. Its own, `sent_on`, is that of the
    model that was expected to answer.
    """
    is_here = endpoint_of(made_on) == endpoint_of(sent_on)
    case = "imported" if made_on == IMPORTED else "model" if is_here else "endpoint"
    signer, reader = family_of(made_on) or "Another model", family_of(sent_on) or "another one"
    return ELSEWHERE[case].format(number=number, signer=signer, reader=reader)


def label(remark: Remark) -> str:
    """The short name of the remark."""
    if remark.code in LABELS:
        return LABELS[remark.code]
    return str(remark.figures.get("label") or remark.code or "note").replace("_", " ")


def notification_hint(kind: str, source: str) -> str:
    """`source` is that of the notification: the reason, for a limit."""
    return NOTIFICATION_HINTS.get(kind) or refusals.lasting_hint(source)


def about_texts(what: str, titles: list[str]) -> str:
    """A sentence about several texts; `what` is a key of ONE_TEXT."""
    return (ONE_TEXT if len(titles) == 1 else SEVERAL_TEXTS)[what].format(
        count=len(titles), titles=", ".join(titles)
    )


def how_often(rate: str) -> str:
    return RATES.get(rate, "")


def failure_reason(rendered: Rendered) -> str:
    """Why a text could not be rendered."""
    return _reason(rendered.failure_figures())["reason"]


def _reason(figures: Figures) -> dict[str, str]:
    known = RENDER_FAILURES.get(figures.get("failure", ""))
    return {"reason": fill(known, figures) if known else str(figures.get("reason", ""))}


def _budget(figures: Figures) -> str:
    budget = Budget.restored(figures)
    return budgets.state(budget) if budget else ""


def _line(figures: Figures) -> dict[str, str]:
    return {"where": PLACES["line"].format(line=figures["line"]) if figures.get("line") else ""}


def _where(figures: Figures) -> dict[str, str]:
    return {"where": fill(REFUSED_IN["here" if figures.get("exchange") else "elsewhere"], figures)}


def _left_out(figures: Figures) -> dict[str, str]:
    told = [str(figures.get(name, "")) for name in ("what", "why", "model")]
    return {"sentence": provider_tools.left_out(*told)}


_derivations: dict[str, Callable[[Figures], dict[str, str]]] = {
    RemarkCode.TEXT_FELL_BACK: lambda figures: _line(figures) | _reason(figures),
    RemarkCode.DESCRIPTION_FELL_BACK: _reason,
    RemarkCode.LEFT_OUT: _left_out,
    RemarkCode.SIGNATURE_REFUSED: _where,
    RemarkCode.REFUSED_PART_DROPPED: _where,
    RemarkCode.REFUSED_CALL: _where,
    RemarkCode.TEXT_BREAKS_CACHE: lambda figures: {"how_often": how_often(figures.get("rate", ""))},
    RemarkCode.CALL_UNANSWERED: lambda figures: {"quoted": quoted(figures.get("names", ()))},
    RemarkCode.MODEL_UNKNOWN: lambda figures: {"caches": CACHES[bool(figures.get("has_caches"))]},
    RemarkCode.PANEL_READ: lambda figures: {"facts": panel_facts.facts(figures)},
    RemarkCode.NOTIFICATION: lambda figures: {"label": NOTIFICATION_LABELS.get(str(figures.get("kind")), "")},
    RemarkCode.BUDGET_NEAR: lambda figures: {"state": _budget(figures)},
}
"""By code: the figures that follow from the stored ones."""
