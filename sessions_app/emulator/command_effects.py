"""What slash commands do to the reply of a scenario.

An effect takes the context, the reply and the command's argument, and returns the changed reply.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

from sessions_app.emulator import api_errors
from sessions_app.emulator.api_errors import ApiError, invalid
from sessions_app.emulator.catalogue import MODELS, Model
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.framing import BROKEN_FRAMINGS
from sessions_app.emulator.sample_content import LONG_ANSWER, LONG_THOUGHTS
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedReply
from sessions_app.emulator.signer import DUMMIES

Effect = Callable[[ScenarioContext, ScriptedReply, str], ScriptedReply]

UNKNOWN_FINISH = "A_REASON_OF_NEXT_YEAR"
UNKNOWN_PART = {"partOfNextYear": {"strokes": 3}}
"""The parser of requests takes it back (`gemini_requests.Part`)."""

_CUT_TEXT = 160
_STALL, _FIRST_DELAY, _RETRY = "30", "5", "2"


def unchanged(_: ScenarioContext, reply: ScriptedReply, __: str) -> ScriptedReply:
    """For commands that are carried out elsewhere."""
    return reply


def change(**values: Any) -> Effect:
    """Sets fields of the reply."""
    return lambda _, reply, __: replace(reply, **values)


def instead(**values: Any) -> Effect:
    """A reply of these fields alone."""
    return lambda _, __, ___: ScriptedReply(**values)


def change_text(make: Callable[[ScriptedReply], ScriptedReply]) -> Effect:
    """Changes a reply unless it calls functions."""
    return lambda _, reply, __: reply if reply.calls else make(reply)


def change_stream(**values: Any) -> Effect:
    """Sets fields of the reply's StreamFault."""
    return lambda _, reply, __: replace(reply, fault=replace(reply.fault, **values))


def cut(**values: Any) -> Effect:
    """Only the beginning of the text, without calls."""
    return lambda _, reply, __: replace(
        reply, calls=(), text=(reply.text or LONG_ANSWER)[:_CUT_TEXT], **values
    )


def think(context: ScenarioContext, reply: ScriptedReply, _: str) -> ScriptedReply:
    hint = "" if context.shows_thoughts else "\n\nI thought, but the request does not ask to see thoughts."
    return replace(reply, thoughts=LONG_THOUGHTS, text=reply.text + hint if reply.text else "")


def fail(context: ScenarioContext, reply: ScriptedReply, code: str) -> ScriptedReply:
    make = _ERRORS.get(code) or _ERRORS["503"]
    return replace(reply, error=_injected(make(context.model.name)))


def fail_hop(context: ScenarioContext, reply: ScriptedReply, code: str) -> ScriptedReply:
    return reply if context.resumed_at is None else fail(context, reply, code)


def exhaust(_: ScenarioContext, reply: ScriptedReply, __: str) -> ScriptedReply:
    return replace(reply, error=api_errors.exhausted())


def retry_after(_: ScenarioContext, reply: ScriptedReply, seconds: str) -> ScriptedReply:
    return _busy(reply, {"retry-after": seconds or _RETRY})


def retry_at(context: ScenarioContext, reply: ScriptedReply, seconds: str) -> ScriptedReply:
    """A date by the emulator's clock, which `date` shows; both are in whole seconds."""
    moment = context.now + timedelta(seconds=float(seconds or _RETRY))
    dates = (format_datetime(each, usegmt=True) for each in (context.now, moment))
    return _busy(reply, dict(zip(("date", "retry-after"), dates, strict=True)))


def limit_rate(_: ScenarioContext, reply: ScriptedReply, seconds: str) -> ScriptedReply:
    limits = {"limit": "10", "remaining": "0", "reset": f"{seconds or _RETRY}s"}
    return _busy(reply, {f"x-ratelimit-{name}-requests": value for name, value in limits.items()})


def _busy(reply: ScriptedReply, headers: dict[str, str]) -> ScriptedReply:
    return replace(reply, error=api_errors.exhausted(headers))


def refuse_signatures(context: ScenarioContext, reply: ScriptedReply, _: str) -> ScriptedReply:
    parts = (part for content in context.contents for part in content.parts)
    signed = any(part.thought_signature and part.thought_signature not in DUMMIES for part in parts)
    return replace(reply, error=_injected(api_errors.corrupted_signature())) if signed else reply


def serve_another(context: ScenarioContext, reply: ScriptedReply, _: str) -> ScriptedReply:
    """The next model of the catalogue with the same rules answers, and signs, in its own name."""
    return replace(reply, served=_sibling(context.model).name)


def _sibling(model: Model) -> Model:
    names = list(MODELS)
    start = names.index(model.name) + 1
    others = (MODELS[name] for name in names[start:] + names[:start])
    alike = (other for other in others if other.checks_signatures == model.checks_signatures)
    return next((other for other in alike if other.version != model.version), model)


def stall(context: ScenarioContext, reply: ScriptedReply, seconds: str) -> ScriptedReply:
    return change_stream(stall=float(seconds if seconds.isdecimal() else _STALL))(context, reply, seconds)


def delay(context: ScenarioContext, reply: ScriptedReply, seconds: str) -> ScriptedReply:
    late = float(seconds if seconds.isdecimal() else _FIRST_DELAY)
    return change_stream(first_delay=late)(context, reply, seconds)


def break_framing(context: ScenarioContext, reply: ScriptedReply, framing: str) -> ScriptedReply:
    name = framing if framing in BROKEN_FRAMINGS else "torn"
    return change_stream(framing=name)(context, reply, framing)


def _injected(error: ApiError) -> ApiError:
    error.rule = Rule.FAULT
    return error


_ERRORS: dict[str, Callable[[str], ApiError]] = {
    "400": lambda _: invalid("Request contains an invalid argument."),
    "403": lambda _: api_errors.missing_key(),
    "412": lambda _: api_errors.unsupported_location(),
    "429": api_errors.quota,
    "500": lambda _: api_errors.internal(),
    "503": lambda _: api_errors.overloaded(),
}
