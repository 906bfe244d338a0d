"""The answer to a text without a cue: what was received, what was cached, what to type next."""

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


def describe_request(context: ScenarioContext, examples: Sequence[str]) -> ScriptedReply:
    """`examples` are texts that call a declared function."""
    sections = (_greeting(context), _received(context), _cache(context), _advice(context, examples))
    thought = (
        "**Looking at the request**\n\n"
        f"{len(context.contents)} contents came in, {context.tokens} tokens in all; no scenario knows "
        "this text. An account of the request itself is the most useful answer."
    )
    return ScriptedReply(text="\n\n".join(sections), thoughts=(thought,))


def missing_function(context: ScenarioContext, names: Sequence[str]) -> ScriptedReply:
    """The answer to a cue for functions that the request does not declare."""
    wanted = " and ".join(f"`{name}`" for name in names)
    declared = ", ".join(f"`{name}`" for name in sorted(context.functions)) or "none"
    text = f"I would call {wanted} for this, but the request does not declare it. Declared: {declared}."
    thought = "**Looking for a function**\n\nWhat this needs is not declared."
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


def _greeting(context: ScenarioContext) -> str:
    asked = " ".join(context.text.split()).replace("`", "'")
    quote = f"You said `{_short(asked, _ECHO)}`. " if asked else ""
    return (
        f"{quote}I am Pipeweb's emulator: no Gemini stands behind this chat, so I describe what reached me."
    )


def _received(context: ScenarioContext) -> str:
    rows = [_row(number, content) for number, content in enumerate(context.contents, 1)]
    hidden = len(rows) - _FIRST_ROWS - _LAST_ROWS
    if hidden > 0:
        rows[_FIRST_ROWS:-_LAST_ROWS] = [f"| … | | {hidden} more contents | | |"]
    title = f"**Received** for `{context.model.name}`, {context.tokens:,} tokens in all:"
    return "\n".join((title, "", "| # | role | parts | tokens | signed |", "|---|---|---|---|---|", *rows))


def _row(number: int, content: Content) -> str:
    tokens = sum(part_tokens(part) for part in content.parts)
    signed = "yes" if any(part.thought_signature for part in content.parts) else "no"
    return f"| {number} | {content.role} | {_kinds(content.parts)} | {tokens:,} | {signed} |"


def _kinds(parts: Sequence[Part]) -> str:
    counted = [(kind, len(list(run))) for kind, run in groupby(part.kind.replace("_", " ") for part in parts)]
    return ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in counted[:4])


def _cache(context: ScenarioContext) -> str:
    if context.cache_name:
        return f"**Cache:** explicit hit, {context.cached:,} tokens from `{context.cache_name}`."
    if context.cached:
        return f"**Cache:** implicit hit, the first {context.cached:,} tokens are the same as before."
    return f"**Cache:** no hit; implicit hits start at {context.model.implicit_minimum:,} repeated tokens."


def _advice(context: ScenarioContext, examples: Sequence[str]) -> str:
    shown = ", ".join(f"`{example}`" for example in examples)
    tools = f"- tools: {shown or 'none are declared in this request, so none can be called'}"
    commands = [SLASH_COMMANDS[word] for word in _SHOWN_COMMANDS]
    lines = ("**Try:**", "", tools, *_provider_tools(context))
    return "\n".join((*lines, *(f"- `{one.example}`: {one.meaning}" for one in commands)))


def _provider_tools(context: ScenarioContext) -> list[str]:
    """What calls for a declared tool of the provider, and which of them nothing does."""
    declared = sorted(context.provider_tools)
    played = dict.fromkeys(EXAMPLES[name] for name in declared if name in EXAMPLES)
    others = ", ".join(name for name in declared if name not in EXAMPLES)
    lines = [f"- the provider's tools: {', '.join(f'`{example}`' for example in played)}"] if played else []
    return lines + ([f"- declared, and not played by the emulator: {others}"] if others else [])
