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
    called, `cached` and `cache_name` what the prompt did not pay for in full.
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

    @property
    def last(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None


@dataclass(frozen=True, slots=True)
class Script:
    """A reply before it becomes bytes.

    `finish` "" ends the stream without a finishReason. `signed` is False where the model had
    nothing to sign. `pieces` cuts the text into that many chunks, `slow` spaces them out,
    `drop_after` breaks the connection after so many chunks. A `refusal` replaces everything.
    """

    text: str = ""
    calls: tuple[Ask, ...] = ()
    thoughts: tuple[str, ...] = ()
    finish: str = "STOP"
    finish_message: str = ""
    block_reason: str = ""
    has_content: bool = True
    signed: bool = True
    pieces: int = 0
    slow: bool = False
    drop_after: int | None = None
    refusal: Refusal | None = None

    @property
    def step(self) -> str:
        """What a signature is bound to: the first function called, or text."""
        return self.calls[0].name if self.calls else "text"


def shorten(script: Script, limit: int | None) -> Script:
    """The script within `limit` output tokens; a text that does not fit ends with MAX_TOKENS."""
    if not limit or estimate(script.text) <= limit:
        return script
    text = script.text.encode()[: 33 * limit // 10].decode(errors="ignore")
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
