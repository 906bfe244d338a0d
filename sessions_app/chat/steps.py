"""What the exchanges of a run brought, as a person reads it: thoughts, text, calls with their answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.utils.safestring import SafeString, mark_safe

from sessions_app.markup import render
from sessions_app.models import Turn
from sessions_app.models.branches import Choice
from sessions_app.prompt.turns import PartView
from sessions_app.runs.listening import thinking_words
from sessions_app.runs.showing import ShownFile

BRIEF_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ToolCard:
    """One call and its answer, both as readable JSON; `response` is empty while there is none."""

    name: str
    brief: str
    """The arguments on one line."""
    args: str
    response: str
    failed: bool
    asked: str = "Arguments"
    """What `args` are called."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one exchange of a run brought: thoughts, text, calls with their answers."""

    turn: Turn
    choice: Choice | None
    """Its place among the answers to the same message; None when it is the only one."""
    thoughts: SafeString
    text: SafeString
    cards: tuple[ToolCard, ...]
    files: tuple[ShownFile, ...] = ()
    """Images and other files that the model made."""
    thinking: str = "Thoughts"
    """What its thoughts are called: how long they took, where that is known."""


def is_model(turn: Turn) -> bool:
    return turn.kind in (Turn.Kind.MODEL_RESPONSE, Turn.Kind.FUNCTION_CALLING)


def steps_of(
    turns: Sequence[Turn],
    choices: Mapping[int, Choice],
    files: Mapping[int, tuple[ShownFile, ...]],
    times: Mapping[int, float],
) -> tuple[Step, ...]:
    """`files` are those of each turn that has any (`files_in`), `times` how long the model thought in
    each exchange, in milliseconds."""
    answers = {index: turn for index, turn in enumerate(turns) if turn.kind == Turn.Kind.TOOL_RESPONSE}
    return tuple(
        _step(
            turn,
            answers.get(index + 1),
            choice=choices.get(turn.pk),
            files=files.get(turn.pk, ()),
            thinking=_thinking(times.get(turn.exchange_id or 0)),
        )
        for index, turn in enumerate(turns)
        if is_model(turn)
    )


def _step(
    turn: Turn,
    answer: Turn | None,
    *,
    choice: Choice | None,
    files: tuple[ShownFile, ...],
    thinking: str,
) -> Step:
    parts = turn.parts
    responses = [part for part in answer.parts if part.response is not None] if answer else []
    calls = [part for part in parts if part.call is not None]
    return Step(
        turn=turn,
        choice=choice,
        thoughts=_html(parts, "thought"),
        text=_html(parts, "text"),
        cards=(
            *_code_runs(parts),
            *(
                _card(call, responses[index] if index < len(responses) else None)
                for index, call in enumerate(calls)
            ),
        ),
        files=files,
        thinking=thinking,
    )


def _thinking(ms: float | None) -> str:
    return "Thoughts" if ms is None else thinking_words(ms)


def _code_runs(parts: Sequence[PartView]) -> Iterable[ToolCard]:
    """Code that ran at the provider, each with the result that follows it."""
    results = (part for part in parts if part.kind == "code_execution_result")
    for part in parts:
        if part.kind == "executable_code":
            result = _inside(next(results, None), "codeExecutionResult", "code_execution_result")
            code = _inside(part, "executableCode", "executable_code")
            written = str(code.get("code", ""))
            yield ToolCard(
                name=f"{str(code.get('language') or '').capitalize()} code".strip(),
                brief=written.strip().partition("\n")[0][:BRIEF_LENGTH],
                args=written,
                response=str(result.get("output", "")),
                failed=str(result.get("outcome", "OUTCOME_OK")) != "OUTCOME_OK",
                asked="Code",
            )


def _inside(part: PartView | None, *keys: str) -> dict[str, Any]:
    found = next((part.raw[key] for key in keys if key in part.raw), None) if part else None
    return found if isinstance(found, dict) else {}


def _html(parts: Iterable[PartView], kind: str) -> SafeString:
    text = "".join(part.text for part in parts if part.kind == kind)
    return mark_safe(render(text)) if text else SafeString()  # noqa: S308 - render is the sanitiser


def _card(call: PartView, answer: PartView | None) -> ToolCard:
    asked, answered = call.call or {}, (answer.response or {}) if answer else {}
    response = answered.get("response")
    return ToolCard(
        name=str(asked.get("name", "")),
        brief=orjson.dumps(asked.get("args") or {}).decode()[:BRIEF_LENGTH],
        args=_readable(asked.get("args") or {}),
        response=_readable(response) if answer else "",
        failed=isinstance(response, dict) and "error" in response,
    )


def _readable(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
