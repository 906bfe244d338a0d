"""Fault injection: slash commands in a message, and the same words in a header or on the command line.

    /error 503 later once                                  in a message
    X-Emulator-Fault: error 503; p=0.3; seed=7, wire torn   with a request

`SLASH_COMMANDS` is applied from, and printed by the default answer and by `manage.py emulator --help`.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.emulator import api_errors
from sessions_app.emulator.api_errors import ApiError, invalid
from sessions_app.emulator.framing import BROKEN_FRAMINGS, FAULT_POSITION, StreamFault
from sessions_app.emulator.sample_content import CODE_EXECUTION, LONG_ANSWER, LONG_THOUGHTS, sample_image
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedReply
from sessions_app.emulator.signer import DUMMIES
from sessions_app.emulator.usage import estimate_tokens

FAULT_HEADER = "x-emulator-fault"

Effect = Callable[[ScenarioContext, ScriptedReply, str], ScriptedReply]

_PATTERN = re.compile(
    rf"(?:^|(?<=\s))/(\w+)(?:\s+(\d{{1,3}}|{'|'.join(BROKEN_FRAMINGS)}))?(?:\s+(later))?(?:\s+(once))?(?=\s|$)",
    re.I,
)
_SLOW_CHUNKS = 100
_CUT_TEXT = 160
_STALL = 30.0
_TOKEN = b"continue after "


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """`meaning` is for people; `effect` changes the reply of the scenario, given the argument."""

    example: str
    meaning: str
    effect: Effect

    @property
    def word(self) -> str:
        return self.example.split()[0].removeprefix("/")


@dataclass(frozen=True, slots=True)
class CommandUse:
    """A command found in a text.

    `once` limits it to the first request with that text to which it applies, `later` to requests with tool
    responses.
    """

    word: str
    argument: str
    once: bool
    later: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """`command` applies to a request with `probability`; the same seed chooses the same requests."""

    command: CommandUse
    probability: float = 1.0
    seed: int = 0

    def applies_to(self, number: int) -> bool:
        """`number` counts the requests of one emulator."""
        chance = random.Random(f"{self.seed} {self.command.word} {self.command.argument} {number}")  # noqa: S311
        return chance.random() < self.probability


def find_commands(text: str) -> tuple[CommandUse, ...]:
    """Known commands, in order of appearance."""
    found = (match.groups(default="") for match in _PATTERN.finditer(text))
    uses = (
        CommandUse(word.lower(), argument.lower(), bool(once), bool(later))
        for word, argument, later, once in found
    )
    return tuple(use for use in uses if use.word in SLASH_COMMANDS)


def apply_commands(
    context: ScenarioContext, reply: ScriptedReply, uses: tuple[CommandUse, ...]
) -> ScriptedReply:
    for use in uses:
        reply = SLASH_COMMANDS[use.word].effect(context, reply, use.argument)
    return reply


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Raises ApiError (400) for a word or an option that is not known."""
    return tuple(_parse_fault(spec) for spec in text.split(",") if spec.strip())


def _parse_fault(spec: str) -> Fault:
    text, *options = spec.split(";")
    uses = find_commands("/" + text.strip().removeprefix("/"))
    if len(uses) != 1:
        raise invalid(f"Unknown fault: {text.strip()}")
    given = dict(option.strip().partition("=")[::2] for option in options)
    try:
        probability, seed = float(given.pop("p", "1")), int(given.pop("seed", "0"))
    except ValueError:
        raise invalid(f"A fault's p and seed are numbers: {spec.strip()}") from None
    if given:
        raise invalid(f"Unknown option of a fault: {', '.join(given)}")
    return Fault(uses[0], probability, seed)


def continuation_token(sent: int) -> bytes:
    return _TOKEN + str(sent).encode()


def characters_sent(token: bytes | None) -> int | None:
    """Characters sent by earlier responses, None for a request without a token.

    Raises ApiError (400) for a token of somebody else.
    """
    if not token:
        return None
    sent = token.removeprefix(_TOKEN)
    if sent == token or not sent.isdigit() or len(sent) > 9:
        raise invalid("Invalid continuation token.")
    return int(sent)


def _change(**values: Any) -> Effect:
    """Sets fields of the reply."""
    return lambda _, reply, __: replace(reply, **values)


def _instead(**values: Any) -> Effect:
    """A reply of these fields alone."""
    return lambda _, __, ___: ScriptedReply(**values)


def _change_text(change: Callable[[ScriptedReply], ScriptedReply]) -> Effect:
    """Changes a reply unless it calls functions."""
    return lambda _, reply, __: reply if reply.calls else change(reply)


def _cut(**values: Any) -> Effect:
    """Only the beginning of the text, without calls."""
    return lambda _, reply, __: replace(
        reply, calls=(), text=(reply.text or LONG_ANSWER)[:_CUT_TEXT], **values
    )


def _think(context: ScenarioContext, reply: ScriptedReply, _: str) -> ScriptedReply:
    hint = "" if context.shows_thoughts else "\n\nI thought, but the request does not ask to see thoughts."
    return replace(reply, thoughts=LONG_THOUGHTS, text=reply.text + hint if reply.text else "")


def _error(context: ScenarioContext, reply: ScriptedReply, code: str) -> ScriptedReply:
    make = _ERRORS.get(code) or _ERRORS["503"]
    return replace(reply, error=make(context.model.name))


def _exhausted(_: ScenarioContext, reply: ScriptedReply, __: str) -> ScriptedReply:
    return replace(reply, error=api_errors.exhausted())


def _refuse_signatures(context: ScenarioContext, reply: ScriptedReply, _: str) -> ScriptedReply:
    parts = (part for content in context.contents for part in content.parts)
    signed = any(part.thought_signature and part.thought_signature not in DUMMIES for part in parts)
    return replace(reply, error=api_errors.corrupted_signature()) if signed else reply


def _stall(_: ScenarioContext, reply: ScriptedReply, seconds: str) -> ScriptedReply:
    return replace(reply, fault=StreamFault(stall=float(seconds) if seconds.isdecimal() else _STALL))


def _wire(_: ScenarioContext, reply: ScriptedReply, framing: str) -> ScriptedReply:
    return replace(reply, fault=StreamFault(framing=framing if framing in BROKEN_FRAMINGS else "torn"))


def _continue(context: ScenarioContext, reply: ScriptedReply, hops: str) -> ScriptedReply:
    """An equal share of the text with a token; with the last token, the rest. Thoughts come first."""
    share = -(-len(reply.text) // max(int(hops or 2), 1))
    end = (context.resumed_at or 0) + share
    rest = _resumed(context, reply)
    if end >= len(reply.text):
        return rest
    return _paused(replace(rest, text=reply.text[end - share : end]), end)


def _ponder(context: ScenarioContext, reply: ScriptedReply, _: str) -> ScriptedReply:
    """Nothing but thoughts with a token; with the token, all else."""
    if context.resumed_at is not None:
        return _resumed(context, reply)
    return _paused(ScriptedReply(thoughts=reply.thoughts or LONG_THOUGHTS), 0)


def _resumed(context: ScenarioContext, reply: ScriptedReply) -> ScriptedReply:
    """What the response before has not sent; its thoughts count, but do not come again."""
    if context.resumed_at is None:
        return reply
    unseen = reply.unseen_thoughts + sum(map(estimate_tokens, reply.thoughts))
    return replace(reply, text=reply.text[context.resumed_at :], thoughts=(), unseen_thoughts=unseen)


def _paused(reply: ScriptedReply, sent: int) -> ScriptedReply:
    return replace(
        reply, finish="CONTINUATION", token=continuation_token(sent), signed=False, has_parts=bool(reply.text)
    )


def _fail_hop(context: ScenarioContext, reply: ScriptedReply, code: str) -> ScriptedReply:
    return reply if context.resumed_at is None else _error(context, reply, code)


_ERRORS: dict[str, Callable[[str], ApiError]] = {
    "400": lambda _: invalid("Request contains an invalid argument."),
    "403": lambda _: api_errors.missing_key(),
    "412": lambda _: api_errors.unsupported_location(),
    "429": api_errors.quota,
    "500": lambda _: api_errors.internal(),
    "503": lambda _: api_errors.overloaded(),
}

_MALFORMED = "Malformed function call: call:default_api:current_time{timezone"

_COMMANDS = (
    SlashCommand("/think", "longer thoughts before the answer", _think),
    SlashCommand("/slow", "a stream of about 100 small chunks", _change(slow=True, pieces=_SLOW_CHUNKS)),
    SlashCommand(
        "/long",
        "a long answer with headings, a table and code",
        _change_text(lambda reply: replace(reply, text=LONG_ANSWER)),
    ),
    SlashCommand(
        "/image",
        "an image that the model made, beside the text",
        _change_text(lambda reply: replace(reply, extra_parts=(*reply.extra_parts, sample_image()))),
    ),
    SlashCommand(
        "/code",
        "code that the model ran, and what it printed",
        _change_text(lambda reply: replace(reply, extra_parts=(*reply.extra_parts, *CODE_EXECUTION))),
    ),
    SlashCommand(
        "/error 503 once",
        "an error: 400, 403, 412, 429, 500 or 503, every time without `once`; with `later` after tools",
        _error,
    ),
    SlashCommand(
        "/corrupted", "signatures that are refused: 400 for a request that carries any", _refuse_signatures
    ),
    SlashCommand("/exhausted", "a quota error that names no quota and no delay", _exhausted),
    SlashCommand("/empty", "a stream without content", _instead(has_content=False)),
    SlashCommand("/nofinish", "a stream that ends without a finish reason", _change(finish="")),
    SlashCommand("/blocked", "a prompt that is blocked", _instead(block_reason="PROHIBITED_CONTENT")),
    SlashCommand("/maxtokens", "an answer cut at the token limit", _cut(finish="MAX_TOKENS")),
    SlashCommand(
        "/safety", "an answer cut by the safety filter", _cut(finish="SAFETY", signed=False, has_parts=False)
    ),
    SlashCommand(
        "/malformed",
        "a malformed function call",
        _instead(has_content=False, finish="MALFORMED_FUNCTION_CALL", finish_message=_MALFORMED),
    ),
    SlashCommand(
        "/drop",
        "a connection that breaks in mid-stream",
        _change(fault=StreamFault(cut_after=FAULT_POSITION)),
    ),
    SlashCommand(
        "/close",
        "a connection that is closed in mid-stream",
        _change(fault=StreamFault(cut_after=FAULT_POSITION, is_clean=True)),
    ),
    SlashCommand(
        "/hangup",
        "a connection that is closed before any answer",
        _change(fault=StreamFault(cut_after=0, is_clean=True)),
    ),
    SlashCommand("/stall 30", "silence in mid-stream, in seconds", _stall),
    SlashCommand(
        "/proxy",
        "a proxy's error page, 502, that calls itself JSON",
        _change(fault=StreamFault(proxy_page=True)),
    ),
    SlashCommand("/wire torn", f"broken framing: {', '.join(BROKEN_FRAMINGS)}", _wire),
    SlashCommand("/noparts", "a content without parts", _instead(has_parts=False, signed=False)),
    SlashCommand("/partial", "function arguments in pieces", _change(partial=True)),
    SlashCommand("/continue 3", "an answer in several hops (2), with continuation tokens", _continue),
    SlashCommand("/ponder", "thoughts in a hop of their own, with a continuation token", _ponder),
    SlashCommand("/failhop 503", "an error in place of every hop but the first", _fail_hop),
)

SLASH_COMMANDS = {command.word: command for command in _COMMANDS}
