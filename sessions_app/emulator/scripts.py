"""What a scenario sees (Scene) and what it says (Script)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.refusals import Refusal
from sessions_app.emulator.shapes import Content, FunctionDeclaration, FunctionResponse, Tool
from sessions_app.emulator.structure import turn_start
from sessions_app.emulator.tokens import estimate
from sessions_app.emulator.troubles import NO_TROUBLE, Trouble

_LONGEST_CUE = 20_000


@dataclass(frozen=True, slots=True)
class Ask:
    """One function call the model makes."""

    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Round:
    """One finished step of the current turn: the calls and the answers that came back."""

    calls: tuple[Ask, ...]
    answers: tuple[FunctionResponse, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """The request as a scenario sees it.

    `text` is the newest user text, `rounds` the tool rounds since, `functions` what may be
    called under `mode`, `declares` whether any function was declared at all. `cached` and
    `cache_name` are what the prompt did not pay for in full. `resumed_at` is how many
    characters earlier hops of a continued answer have said.
    """

    model: Model
    text: str
    rounds: tuple[Round, ...]
    functions: Mapping[str, FunctionDeclaration]
    contents: tuple[Content, ...]
    shows_thoughts: bool = False
    tokens: int = 0
    cached: int = 0
    cache_name: str = ""
    mode: str = "AUTO"
    declares: bool = False
    resumed_at: int = 0

    @property
    def last(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None


@dataclass(frozen=True, slots=True)
class Script:
    """A reply before it becomes bytes.

    `unseen_thoughts` are tokens of thoughts that are counted and signed but never shown.
    `finish` "" ends the stream without a finishReason; `token` lets a CONTINUATION go on.
    `signed` is False where the model had nothing to sign, `has_parts` where the last chunk
    holds none. `pieces` cuts the text into that many chunks, `slow` spaces them out, `partial`
    streams arguments in pieces, `candidates` is how many times it is answered. `trouble` is
    what happens to the bytes. `beside` are parts that stand beside the text: an image, code that ran.
    A `refusal` replaces everything.
    """

    text: str = ""
    calls: tuple[Ask, ...] = ()
    thoughts: tuple[str, ...] = ()
    unseen_thoughts: int = 0
    finish: str = "STOP"
    finish_message: str = ""
    block_reason: str = ""
    has_content: bool = True
    has_parts: bool = True
    signed: bool = True
    pieces: int = 0
    slow: bool = False
    partial: bool = False
    candidates: int = 1
    token: bytes = b""
    beside: tuple[dict[str, Any], ...] = ()
    trouble: Trouble = NO_TROUBLE
    refusal: Refusal | None = None

    @property
    def has_thought(self) -> bool:
        return bool(self.thoughts or self.unseen_thoughts)

    @property
    def step(self) -> str:
        """What a signature is bound to: the first function called, or text."""
        return self.calls[0].name if self.calls else "text"


def shorten(script: Script, limit: int | None) -> Script:
    """The script within `limit` output tokens, thoughts first; what does not fit ends with MAX_TOKENS."""
    if not limit or script.calls:
        return script
    left = limit - script.unseen_thoughts - sum(map(estimate, script.thoughts))
    if estimate(script.text) <= left:
        return script
    if left <= 0:
        return replace(
            script,
            text="",
            thoughts=(),
            unseen_thoughts=max(1, limit - 1),
            finish="MAX_TOKENS",
            has_parts=False,
            signed=False,
        )
    text = script.text.encode()[: 33 * left // 10].decode(errors="ignore")
    return replace(script, text=text, finish="MAX_TOKENS")


def newest_text(contents: Sequence[Content]) -> str:
    """The last text part of the content that opened the current turn: the trigger, or what led to it.

    Cut at 20,000 characters, beyond which nobody writes a cue and the patterns would take long.
    """
    if not contents:
        return ""
    texts = [part.text for part in contents[turn_start(contents)].parts if part.text]
    return texts[-1][:_LONGEST_CUE].strip() if texts else ""


def rounds_of(contents: Sequence[Content]) -> tuple[Round, ...]:
    """The answered tool rounds of the current turn, oldest first."""
    current = contents[turn_start(contents) :]
    pairs = pairwise(current)
    return tuple(
        Round(_asks(asked), tuple(answered.answers))
        for asked, answered in pairs
        if asked.calls and answered.answers
    )


def _asks(content: Content) -> tuple[Ask, ...]:
    calls = (part.function_call for part in content.parts)
    return tuple(Ask(call.name, call.args or {}) for call in calls if call)


def functions_of(tools: Sequence[Tool]) -> dict[str, FunctionDeclaration]:
    return {function.name: function for tool in tools for function in tool.function_declarations}
