"""Slash commands: the words that change an answer, in a message, in a header or on the command line.

    /error 503 later once p=0.5 seed=3                      in a message
    X-Emulator-Fault: error 503; p=0.3; seed=7, wire torn   with a request

`SLASH_COMMANDS` is applied from, and printed by the default answer and by `manage.py emulator --help`.
"""

import random
import re
from dataclasses import dataclass, replace
from typing import Self

from sessions_app.emulator.api_errors import invalid
from sessions_app.emulator.command_effects import (
    UNKNOWN_FINISH,
    UNKNOWN_PART,
    Effect,
    break_framing,
    change,
    change_stream,
    change_text,
    cut,
    delay,
    exhaust,
    fail,
    fail_hop,
    instead,
    limit_rate,
    refuse_signatures,
    retry_after,
    retry_at,
    serve_another,
    stall,
    think,
    unchanged,
)
from sessions_app.emulator.continuation import pause_text, pause_thoughts
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.framing import BROKEN_FRAMINGS, FAULT_POSITION
from sessions_app.emulator.sample_content import CODE_EXECUTION, LONG_ANSWER, sample_image

_ARGUMENT = rf"\d{{1,3}}|{'|'.join(BROKEN_FRAMINGS)}"
_OPTIONS = r"(?:\s+(?:p=\d*\.?\d+|seed=\d{1,9}))*"
_PATTERN = re.compile(
    rf"(?:^|(?<=\s))/(\w+)(?:\s+({_ARGUMENT}))?(?:\s+(later))?(?:\s+(once))?({_OPTIONS})(?=\s|$)", re.I
)
_SLOW_CHUNKS = 100


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
    """A command found in a text, a header or on the command line.

    `once` limits it to the first request with that text to which it applies, `later` to requests with tool
    responses. It applies with `probability`; the same seed chooses the same requests.
    """

    word: str
    argument: str
    once: bool = False
    later: bool = False
    probability: float = 1.0
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.word} {self.argument}".strip()

    def _chance(self, number: int) -> tuple[float, float]:
        """`number` counts the requests of one emulator."""
        drawn = random.Random(f"{self.seed} {self.word} {self.argument} {number}")  # noqa: S311
        return drawn.random(), drawn.random()

    def applies_to(self, number: int) -> bool:
        return self._chance(number)[0] < self.probability

    def share(self, number: int) -> float:
        """Between 0 and 1, independent of whether it applies."""
        return self._chance(number)[1]

    @classmethod
    def found(cls, match: re.Match[str]) -> Self:
        word, argument, later, once, options = match.groups(default="")
        given = dict(option.lower().split("=") for option in options.split())
        return cls(
            word.lower(),
            argument.lower(),
            bool(once),
            bool(later),
            float(given.get("p", 1)),
            int(given.get("seed", 0)),
        )


def find_commands(text: str) -> tuple[CommandUse, ...]:
    """Known commands, in order of appearance."""
    uses = map(CommandUse.found, _PATTERN.finditer(text))
    return tuple(use for use in uses if use.word in SLASH_COMMANDS)


def parse_faults(text: str) -> tuple[CommandUse, ...]:
    """Raises ApiError (400) for a word or an option that is not known."""
    return tuple(_parse_fault(spec.strip()) for spec in text.split(",") if spec.strip())


def _parse_fault(spec: str) -> CommandUse:
    match = _PATTERN.fullmatch("/" + " ".join(spec.replace(";", " ").split()).removeprefix("/"))
    use = CommandUse.found(match) if match else None
    if use is None or use.word not in SLASH_COMMANDS:
        raise invalid(f"Unknown fault: {spec}", rule=Rule.FAULT_UNKNOWN)
    return use


_MALFORMED = "Malformed function call: call:default_api:current_time{timezone"

_COMMANDS = (
    SlashCommand("/think", "longer thoughts before the answer", think),
    SlashCommand("/slow", "a stream of about 100 small chunks", change(slow=True, pieces=_SLOW_CHUNKS)),
    SlashCommand(
        "/long",
        "a long answer with headings, a table and code",
        change_text(lambda reply: replace(reply, text=LONG_ANSWER)),
    ),
    SlashCommand(
        "/image",
        "an image that the model made, beside the text",
        change_text(lambda reply: replace(reply, extra_parts=(*reply.extra_parts, sample_image()))),
    ),
    SlashCommand(
        "/code",
        "code that the model ran, and what it printed",
        change_text(lambda reply: replace(reply, extra_parts=(*reply.extra_parts, *CODE_EXECUTION))),
    ),
    SlashCommand(
        "/error 503 once",
        "an error: 400, 403, 412, 429, 500 or 503, every time without `once`; with `later` after tools",
        fail,
    ),
    SlashCommand(
        "/corrupted", "signatures that are refused: 400 for a request that carries any", refuse_signatures
    ),
    SlashCommand("/exhausted", "a quota error that names no quota and no delay", exhaust),
    SlashCommand("/empty", "a stream without content", instead(has_content=False)),
    SlashCommand("/nofinish", "a stream that ends without a finish reason", change(finish="")),
    SlashCommand("/blocked", "a prompt that is blocked", instead(block_reason="PROHIBITED_CONTENT")),
    SlashCommand("/maxtokens", "an answer cut at the token limit", cut(finish="MAX_TOKENS")),
    SlashCommand(
        "/safety", "an answer cut by the safety filter", cut(finish="SAFETY", signed=False, has_parts=False)
    ),
    SlashCommand(
        "/malformed",
        "a malformed function call",
        instead(has_content=False, finish="MALFORMED_FUNCTION_CALL", finish_message=_MALFORMED),
    ),
    SlashCommand(
        "/drop",
        "a connection that breaks in mid-stream",
        change_stream(cut_after=FAULT_POSITION),
    ),
    SlashCommand(
        "/close",
        "a connection that is closed in mid-stream",
        change_stream(cut_after=FAULT_POSITION, is_clean=True),
    ),
    SlashCommand(
        "/hangup",
        "a connection that is closed before any answer",
        change_stream(cut_after=0, is_clean=True),
    ),
    SlashCommand("/stall 30", "silence in mid-stream, in seconds", stall),
    SlashCommand(
        "/proxy",
        "a proxy's error page, 502, that calls itself JSON",
        change_stream(proxy_page=True),
    ),
    SlashCommand("/wire torn", f"broken framing: {', '.join(BROKEN_FRAMINGS)}", break_framing),
    SlashCommand("/noparts", "a content without parts", instead(has_parts=False, signed=False)),
    SlashCommand("/partial", "function arguments in pieces", change(partial=True)),
    SlashCommand("/continue 3", "an answer in several hops (2), with continuation tokens", pause_text),
    SlashCommand("/ponder", "thoughts in a hop of their own, with a continuation token", pause_thoughts),
    SlashCommand("/failhop 503", "an error in place of every hop but the first", fail_hop),
    SlashCommand("/newreason", "a finish reason that nobody knows", change(finish=UNKNOWN_FINISH)),
    SlashCommand(
        "/newpart",
        "a part of a kind that nobody knows, beside the text",
        change_text(lambda reply: replace(reply, extra_parts=(*reply.extra_parts, UNKNOWN_PART))),
    ),
    SlashCommand("/served", "another model answers and signs, and says so", serve_another),
    SlashCommand("/retryafter 2", "429 with the header Retry-After in seconds", retry_after),
    SlashCommand("/retrydate 2", "429 with the header Retry-After as a date", retry_at),
    SlashCommand("/ratelimit 2", "429 with x-ratelimit-* headers and the reset in seconds", limit_rate),
    SlashCommand("/delay 5", "seconds before the first chunk", delay),
    SlashCommand("/miss", "an implicit hit that does not happen", unchanged),
    SlashCommand("/vanish", "the explicit cache that is named is gone before its expiry", unchanged),
    SlashCommand("/miscount 8", "prompt counts that differ by up to so many percent (8)", unchanged),
    SlashCommand(
        "/creating 5",
        "an explicit cache takes up to so many seconds (5) to be created; no message",
        unchanged,
    ),
)

SLASH_COMMANDS = {command.word: command for command in _COMMANDS}
