"""The answer to a text without a cue: a short human one, what to type next, what was received."""

import re
from collections.abc import Sequence
from itertools import groupby

from sessions_app.emulator.gemini_requests import Content, FunctionResponse, Part
from sessions_app.emulator.provider_tools import EXAMPLES
from sessions_app.emulator.scripted_reply import PlayedRound, ScenarioContext, ScriptedReply
from sessions_app.emulator.slash_commands import SLASH_COMMANDS
from sessions_app.emulator.tool_results import result_of
from sessions_app.emulator.usage import part_tokens

_ECHO = 60
_LONGEST_VALUE = 600
_FIRST_ROWS, _LAST_ROWS = 2, 4
_SHOWN_COMMANDS = ("think", "slow", "long", "error", "empty", "drop")

REPORT = "pipeweb-emulator-report"
"""The word after the fence of the report: no language, and a word that no model has learnt."""

_FENCE = "~~~~"
_WHO = "I am an emulator that stands in for Gemini: no model reads what you write, and I know nothing."
_HELLO = re.compile(r"(?:hi|hello|hey|halo|hallo|good (?:morning|day|evening))\b", re.I)
_QUESTION = re.compile(
    r"(?:who|what|where|when|why|how|which|can|could|do|does|is|are|will|would|should)\b", re.I
)
_ASKS = r"\b(?:show|give|write|make|draw)\b.{0,40}\b"
_SAMPLES = tuple(
    (re.compile(_ASKS + cue, re.I), sample)
    for cue, sample in (
        (r"table\b", "| planet | moons |\n|---|---|\n| Earth | 1 |\n| Mars | 2 |"),
        (r"list\b", "1. Boil the water.\n2. Warm the pot.\n3. Wait for four minutes."),
        (r"code\b", "```python\ndef double(number):\n    return 2 * number\n```"),
        (r"(?:formula|math|equation)\b", "$$a^2 + b^2 = c^2$$"),
    )
)
_SAMPLE_EXAMPLES = ("show me a table", "show me a list", "show me some code", "show me a formula")


def describe_request(context: ScenarioContext, examples: Sequence[str]) -> ScriptedReply:
    """`examples` are texts that call a declared function."""
    sections = (_speech(context), _advice(context, examples), _report(context))
    thought = (
        "**Looking at the request**\n\n"
        f"{len(context.contents)} contents came in, {context.tokens} tokens in all; no scenario knows "
        "this text. An honest short answer, and what can be asked for, is the most useful."
    )
    return ScriptedReply(text="\n\n".join(sections), thoughts=(thought,))


def missing_function(context: ScenarioContext, names: Sequence[str]) -> ScriptedReply:
    """The answer to a cue for functions that the request does not declare, or forbids."""
    wanted = " and ".join(f"`{name}`" for name in names)
    declared = ", ".join(f"`{name}`" for name in sorted(context.functions)) or "none"
    text = f"I would call {wanted} for this, but this request does not allow it. Allowed: {declared}."
    thought = "**Looking for a function**\n\nWhat this needs may not be called."
    return ScriptedReply(text=text, thoughts=(thought,))


def describe_responses(done: PlayedRound) -> str:
    """The function responses of a round as text."""
    if len(done.answers) == 1:
        return _describe(done.answers[0])
    return "The tools answered:\n\n" + "\n".join(f"- {_describe(answer)}" for answer in done.answers)


def _describe(answer: FunctionResponse) -> str:
    response = result_of(answer)
    if "error" in response:
        return f"`{answer.name}` did not work: {' '.join(map(str, response.values()))}"
    return f"`{answer.name}` answered: {_fields(response)}"


def _fields(response: dict[str, object]) -> str:
    if not response:
        return "nothing"
    return "; ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in response.items())


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value) or "none"
    if isinstance(value, dict):
        return "(" + _fields(value) + ")"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"**{value}**" if isinstance(value, int | float) else _quoted(_short(str(value), _LONGEST_VALUE))


def _quoted(text: str) -> str:
    """Text of several lines as a code block, so that its own Markdown stays text."""
    return f"\n\n~~~~text\n{text.rstrip()}\n~~~~\n" if "\n" in text else text


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rstrip() + "…"


def _speech(context: ScenarioContext) -> str:
    """What a person reads. It claims no knowledge, since nothing here has any."""
    asked = context.text.strip()
    for cue, sample in _SAMPLES:
        if cue.search(asked):
            return f"Here is one, as an example of mine:\n\n{sample}"
    if _HELLO.match(asked):
        return f"Hello! {_WHO} Ask for something below, and you see how an answer of that kind looks here."
    if asked.endswith("?") or _QUESTION.match(asked):
        return f"I cannot know that. {_WHO} With an API key set, Gemini answers this question."
    return f"I would like to help, but cannot. {_WHO} With an API key set, Gemini answers this."


def _report(context: ScenarioContext) -> str:
    """For those who want to see the request; a page of Pipeweb folds it."""
    rows = [_row(number, content) for number, content in enumerate(context.contents, 1)]
    hidden = len(rows) - _FIRST_ROWS - _LAST_ROWS
    if hidden > 0:
        rows[_FIRST_ROWS:-_LAST_ROWS] = [f"  … {hidden} more contents"]
    asked = _short(" ".join(context.text.split()), _ECHO)
    title = f"{context.model.name}, {context.tokens:,} tokens in all"
    lines = (title, f"newest text: {asked or 'none'}", *rows, _cache(context))
    return "\n".join((f"{_FENCE}{REPORT}", *lines, _FENCE))


def _row(number: int, content: Content) -> str:
    tokens = sum(part_tokens(part) for part in content.parts)
    signed = ", signed" if any(part.thought_signature for part in content.parts) else ""
    return f"  {number}. {content.role}: {_kinds(content.parts)}, {tokens:,} tokens{signed}"


def _kinds(parts: Sequence[Part]) -> str:
    counted = [(kind, len(list(run))) for kind, run in groupby(part.kind.replace("_", " ") for part in parts)]
    return ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in counted[:4])


def _cache(context: ScenarioContext) -> str:
    if context.cache_name:
        return f"cache: explicit hit, {context.cached:,} tokens from {context.cache_name}"
    if context.cached:
        return f"cache: implicit hit, the first {context.cached:,} tokens are the same as before"
    return f"cache: no hit; implicit hits start at {context.model.implicit_minimum:,} repeated tokens"


def _advice(context: ScenarioContext, examples: Sequence[str]) -> str:
    shown = ", ".join(f"`{example}`" for example in examples)
    tools = f"- tools: {shown or 'none can be called: this request declares none, or forbids it'}"
    commands = [SLASH_COMMANDS[word] for word in _SHOWN_COMMANDS]
    samples = f"- examples: {', '.join(f'`{example}`' for example in _SAMPLE_EXAMPLES)}"
    lines = ("**Try:**", "", samples, tools, *_provider_tools(context))
    return "\n".join((*lines, *(f"- `{one.example}`: {one.meaning}" for one in commands)))


def _provider_tools(context: ScenarioContext) -> list[str]:
    """What calls for a declared tool of the provider, and which of them nothing does."""
    declared = sorted(context.provider_tools)
    played = dict.fromkeys(EXAMPLES[name] for name in declared if name in EXAMPLES)
    others = ", ".join(name for name in declared if name not in EXAMPLES)
    lines = [f"- the provider's tools: {', '.join(f'`{example}`' for example in played)}"] if played else []
    return lines + ([f"- declared, and not played by the emulator: {others}"] if others else [])
