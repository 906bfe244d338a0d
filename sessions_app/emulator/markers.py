"""Slash words in a message that make the emulator show what a model or a network can do.

One table: the effects are applied from it, and the plain answer and the docs print it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sessions_app.emulator.drawings import CODE_RUN, drawing
from sessions_app.emulator.essays import LONG_ANSWER, LONG_THOUGHTS
from sessions_app.emulator.refusals import (
    Refusal,
    exhausted,
    internal,
    invalid,
    missing_key,
    overloaded,
    quota,
    wrong_place,
)
from sessions_app.emulator.scripts import Scene, Script
from sessions_app.emulator.troubles import CUT_AFTER, WIRE, Trouble

Effect = Callable[[Scene, Script, str], Script]

_MARKER = re.compile(rf"(?:^|(?<=\s))/(\w+)(?:\s+(\d{{1,3}}|{'|'.join(WIRE)}))?(?:\s+(once))?(?=\s|$)", re.I)
_SLOW_CHUNKS = 100
_CUT = 160
_STALL = 30.0
_TOKEN = b"continue after "


@dataclass(frozen=True, slots=True)
class Marker:
    """`meaning` is what a person reads; `effect` turns the script that would play into another."""

    example: str
    meaning: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker found in a text. `once` spends it on the first request that carries it."""

    word: str
    argument: str
    once: bool


def find_marks(text: str) -> tuple[Mark, ...]:
    """Known markers, in order of appearance."""
    found = (match.groups(default="") for match in _MARKER.finditer(text))
    marks = (Mark(word.lower(), argument.lower(), bool(once)) for word, argument, once in found)
    return tuple(mark for mark in marks if mark.word in MARKERS)


def apply_marks(scene: Scene, script: Script, marks: tuple[Mark, ...]) -> Script:
    for mark in marks:
        script = MARKERS[mark.word].effect(scene, script, mark.argument)
    return script


def _think(scene: Scene, script: Script, _: str) -> Script:
    hint = "" if scene.shows_thoughts else "\n\nI thought, but the request does not ask to see thoughts."
    return replace(script, thoughts=LONG_THOUGHTS, text=script.text + hint if script.text else "")


def _slow(_: Scene, script: Script, __: str) -> Script:
    return replace(script, slow=True, pieces=_SLOW_CHUNKS)


def _long(_: Scene, script: Script, __: str) -> Script:
    return script if script.calls else replace(script, text=LONG_ANSWER)


def _image(_: Scene, script: Script, __: str) -> Script:
    return script if script.calls else replace(script, beside=(*script.beside, drawing()))


def _code(_: Scene, script: Script, __: str) -> Script:
    return script if script.calls else replace(script, beside=(*script.beside, *CODE_RUN))


def _error(scene: Scene, script: Script, code: str) -> Script:
    refuse = _REFUSALS.get(code) or _REFUSALS["503"]
    return replace(script, refusal=refuse(scene.model.name))


def _exhausted(_: Scene, script: Script, __: str) -> Script:
    return replace(script, refusal=exhausted())


def _empty(_: Scene, __: Script, ___: str) -> Script:
    return Script(has_content=False)


def _nofinish(_: Scene, script: Script, __: str) -> Script:
    return replace(script, finish="")


def _blocked(_: Scene, __: Script, ___: str) -> Script:
    return Script(block_reason="PROHIBITED_CONTENT")


def _maxtokens(_: Scene, script: Script, __: str) -> Script:
    return replace(script, calls=(), text=_opening(script), finish="MAX_TOKENS")


def _safety(_: Scene, script: Script, __: str) -> Script:
    return replace(script, calls=(), text=_opening(script), finish="SAFETY", signed=False, has_parts=False)


def _malformed(_: Scene, __: Script, ___: str) -> Script:
    message = "Malformed function call: call:default_api:current_time{timezone"
    return Script(has_content=False, finish="MALFORMED_FUNCTION_CALL", finish_message=message)


def _drop(_: Scene, script: Script, __: str) -> Script:
    return replace(script, trouble=Trouble(cut_after=CUT_AFTER))


def _close(_: Scene, script: Script, __: str) -> Script:
    return replace(script, trouble=Trouble(cut_after=CUT_AFTER, clean=True))


def _hangup(_: Scene, script: Script, __: str) -> Script:
    return replace(script, trouble=Trouble(cut_after=0, clean=True))


def _stall(_: Scene, script: Script, seconds: str) -> Script:
    return replace(script, trouble=Trouble(stall=float(seconds) if seconds.isdecimal() else _STALL))


def _proxy(_: Scene, script: Script, __: str) -> Script:
    return replace(script, trouble=Trouble(page=True))


def _wire(_: Scene, script: Script, name: str) -> Script:
    return replace(script, trouble=Trouble(wire=name if name in WIRE else "torn"))


def _noparts(_: Scene, __: Script, ___: str) -> Script:
    return Script(has_parts=False, signed=False)


def _partial(_: Scene, script: Script, __: str) -> Script:
    return replace(script, partial=True)


def _continue(scene: Scene, script: Script, _: str) -> Script:
    """Half of the text with a token; with the token, the rest."""
    if scene.resumed_at or not script.text:
        return replace(script, text=script.text[scene.resumed_at :])
    half = len(script.text) // 2
    return replace(
        script, text=script.text[:half], finish="CONTINUATION", token=continuation_token(half), signed=False
    )


def continuation_token(said: int) -> bytes:
    return _TOKEN + str(said).encode()


def said_before(token: bytes | None) -> int:
    """Characters said in earlier hops. Raises Refusal (400) for a token this emulator did not make."""
    if not token:
        return 0
    said = token.removeprefix(_TOKEN)
    if said == token or not said.isdigit() or len(said) > 9:
        raise invalid("Invalid continuation token.")
    return int(said)


def _opening(script: Script) -> str:
    return (script.text or LONG_ANSWER)[:_CUT]


_REFUSALS: dict[str, Callable[[str], Refusal]] = {
    "400": lambda _: invalid("Request contains an invalid argument."),
    "403": lambda _: missing_key(),
    "412": lambda _: wrong_place(),
    "429": quota,
    "500": lambda _: internal(),
    "503": lambda _: overloaded(),
}

MARKERS: dict[str, Marker] = {
    "think": Marker("/think", "longer thoughts before the answer", _think),
    "slow": Marker("/slow", "a stream of about 100 small chunks", _slow),
    "long": Marker("/long", "a long answer with headings, a table and code", _long),
    "image": Marker("/image", "an image that the model made, beside the text", _image),
    "code": Marker("/code", "code that the model ran, and what it printed", _code),
    "error": Marker(
        "/error 503 once",
        "an error: 400, 403, 412, 429, 500 or 503, every time without `once`",
        _error,
    ),
    "exhausted": Marker("/exhausted", "a quota error that names no quota and no delay", _exhausted),
    "empty": Marker("/empty", "a stream without content", _empty),
    "nofinish": Marker("/nofinish", "a stream that ends without a finish reason", _nofinish),
    "blocked": Marker("/blocked", "a prompt that is blocked", _blocked),
    "maxtokens": Marker("/maxtokens", "an answer cut at the token limit", _maxtokens),
    "safety": Marker("/safety", "an answer cut by the safety filter", _safety),
    "malformed": Marker("/malformed", "a malformed function call", _malformed),
    "drop": Marker("/drop", "a connection that breaks in mid-stream", _drop),
    "close": Marker("/close", "a connection that is closed in mid-stream", _close),
    "hangup": Marker("/hangup", "a connection that is closed before any answer", _hangup),
    "stall": Marker("/stall 30", "silence in mid-stream, in seconds", _stall),
    "proxy": Marker("/proxy", "a proxy's error page, 502, that calls itself JSON", _proxy),
    "wire": Marker("/wire torn", f"broken framing: {', '.join(WIRE)}", _wire),
    "noparts": Marker("/noparts", "a content without parts", _noparts),
    "partial": Marker("/partial", "function arguments in pieces", _partial),
    "continue": Marker("/continue", "an answer in two hops, with a continuation token", _continue),
}
