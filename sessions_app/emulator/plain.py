"""The emulator in its own words: what it received, what was cached, what to type next."""

from collections.abc import Sequence
from itertools import groupby

from sessions_app.emulator.markers import MARKERS
from sessions_app.emulator.phrases import PHRASES
from sessions_app.emulator.scripts import Round, Scene, Script
from sessions_app.emulator.shapes import Content, FunctionResponse, Part
from sessions_app.emulator.tokens import part_tokens

_ECHO = 60
_LONGEST_VALUE = 600
_FIRST_ROWS, _LAST_ROWS = 2, 4
_EXAMPLES = 3
_DEMO_EXAMPLES = {
    "check_flight": "Check flight status for AA100 and book a taxi 2 hours before if delayed",
    "get_current_temperature": "Check the weather in Paris and London",
}
_SHOWN_MARKERS = ("think", "slow", "long", "error", "empty", "drop")


def answer_plainly(scene: Scene) -> Script:
    """The answer to anything that is no scenario's cue."""
    sections = (_greeting(scene), _received(scene), _cache(scene), _advice(scene))
    thought = (
        "**Looking at the request**\n\n"
        f"{len(scene.contents)} contents came in, {scene.tokens} tokens in all; no scenario knows this text. "
        "An account of the request itself is the most useful answer."
    )
    return Script(text="\n\n".join(sections), thoughts=(thought,))


def missing_function(scene: Scene, names: Sequence[str]) -> Script:
    """Said when a cue needs functions that the request does not declare."""
    wanted = " and ".join(f"`{name}`" for name in names)
    declared = ", ".join(f"`{name}`" for name in sorted(scene.functions)) or "none"
    text = f"I would call {wanted} for this, but the request does not declare it. Declared: {declared}."
    thought = "**Looking for a function**\n\nWhat this needs is not declared."
    return Script(text=text, thoughts=(thought,))


def report(done: Round) -> str:
    """A round of function answers as text."""
    if len(done.answers) == 1:
        return _told(done.answers[0])
    return "The tools answered:\n\n" + "\n".join(f"- {_told(answer)}" for answer in done.answers)


def _told(answer: FunctionResponse) -> str:
    response = answer.response or {}
    if "error" in response:
        return f"`{answer.name}` did not work: {' '.join(map(str, response.values()))}"
    return f"`{answer.name}` answered: {_spoken(response)}"


def _spoken(response: dict[str, object]) -> str:
    if not response:
        return "nothing"
    return "; ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in response.items())


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value) or "none"
    if isinstance(value, dict):
        return "(" + _spoken(value) + ")"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"**{value}**" if isinstance(value, int | float) else _quoted(_short(str(value), _LONGEST_VALUE))


def _quoted(text: str) -> str:
    """Text of several lines as a code block, so that its own Markdown stays text."""
    return f"\n\n~~~~text\n{text.rstrip()}\n~~~~\n" if "\n" in text else text


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rstrip() + "…"


def _greeting(scene: Scene) -> str:
    asked = " ".join(scene.text.split()).replace("`", "'")
    said = f"You said `{_short(asked, _ECHO)}`. " if asked else ""
    return f"{said}I am Pipeweb's emulator: no Gemini stands behind this chat, so I describe what reached me."


def _received(scene: Scene) -> str:
    rows = [_row(number, content) for number, content in enumerate(scene.contents, 1)]
    hidden = len(rows) - _FIRST_ROWS - _LAST_ROWS
    if hidden > 0:
        rows[_FIRST_ROWS:-_LAST_ROWS] = [f"| … | | {hidden} more contents | | |"]
    title = f"**Received** for `{scene.model.name}`, {scene.tokens:,} tokens in all:"
    return "\n".join((title, "", "| # | role | parts | tokens | signed |", "|---|---|---|---|---|", *rows))


def _row(number: int, content: Content) -> str:
    tokens = sum(part_tokens(part) for part in content.parts)
    signed = "yes" if any(part.thought_signature for part in content.parts) else "no"
    return f"| {number} | {content.role} | {_kinds(content.parts)} | {tokens:,} | {signed} |"


def _kinds(parts: Sequence[Part]) -> str:
    counted = [(kind, len(list(run))) for kind, run in groupby(part.kind.replace("_", " ") for part in parts)]
    return ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in counted[:4])


def _cache(scene: Scene) -> str:
    if scene.cache_name:
        return f"**Cache:** explicit hit, {scene.cached:,} tokens from `{scene.cache_name}`."
    if scene.cached:
        return f"**Cache:** implicit hit, the first {scene.cached:,} tokens are the same as before."
    return f"**Cache:** no hit; implicit hits start at {scene.model.implicit_minimum:,} repeated tokens."


def _advice(scene: Scene) -> str:
    spoken = [phrase.example for phrase in reversed(PHRASES) if phrase.function in scene.functions]
    demos = [example for name, example in _DEMO_EXAMPLES.items() if name in scene.functions]
    examples = demos + spoken[-_EXAMPLES:]
    tools = [f"- tools: {', '.join(f'`{example}`' for example in examples)}"] if examples else [_NO_TOOLS]
    markers = [f"- `{MARKERS[word].example}`: {MARKERS[word].meaning}" for word in _SHOWN_MARKERS]
    return "\n".join(("**Try:**", "", *tools, *markers))


_NO_TOOLS = "- tools: none are declared in this request, so none can be called"
