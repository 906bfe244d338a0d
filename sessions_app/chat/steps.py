"""The steps of a run for the page: thoughts, text, tool calls with their responses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from sessions_app.chat.citations import ShownCitations, marks_of
from sessions_app.chat.open_rounds import CallState, CallStates
from sessions_app.chat.turn_files import ShownFile
from sessions_app.markup import Mark, render
from sessions_app.models import Turn
from sessions_app.models.branches import BranchChoice
from sessions_app.panels import tool_title
from sessions_app.prompt.parts import PartView, without_signature
from sessions_app.prompt.wire import readable
from sessions_app.runs.reply_progress import thinking_words
from sessions_app.wording import endings
from sessions_app.wording.activity import call_brief
from sessions_app.wording.endings import UNREAD

BRIEF_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool call and its response as indented JSON; `response` is empty while pending."""

    name: str
    brief: str
    """What stands beside the title: values of arguments, or the first line of code."""
    args: str
    response: str
    failed: bool
    args_label: str = "Arguments"
    index: int | None = None
    """The number of the call in its step; None for code that the provider ran."""
    state: str = ""
    """What became of a call without a response, in words."""
    title: str = ""
    """What the tool does; the name where it has no title."""
    is_read: bool = True
    """Whether it is a tool rather than a part of a kind that is not known."""


@dataclass(frozen=True, slots=True)
class Step:
    """The output of one exchange."""

    turn: Turn
    choice: BranchChoice | None
    """Its position among the answers to the same message; None for a single one."""
    thoughts: SafeString
    text: SafeString
    cards: tuple[ToolCard, ...]
    files: tuple[ShownFile, ...] = ()
    thought_ms: float | None = None
    """How long it thought, if known."""
    cited: ShownCitations | None = None
    """What the text rests on; None if the provider named nothing."""

    @property
    def thoughts_label(self) -> str:
        return thoughts_label(self.thought_ms)

    @property
    def tools(self) -> tuple[ToolCard, ...]:
        return tuple(card for card in self.cards if card.is_read)

    @property
    def unread(self) -> tuple[ToolCard, ...]:
        return tuple(card for card in self.cards if not card.is_read)

    @property
    def is_active(self) -> bool:
        """Whether the model thought or used tools in it."""
        return bool(self.thoughts or self.tools)


def is_model(turn: Turn) -> bool:
    return turn.kind in (Turn.Kind.MODEL_RESPONSE, Turn.Kind.FUNCTION_CALLING)


def steps_of(
    turns: Sequence[Turn],
    choices: Mapping[int, BranchChoice],
    files: Mapping[int, tuple[ShownFile, ...]],
    times: Mapping[int, float],
    states: CallStates,
) -> tuple[Step, ...]:
    """`files` by turn (`files_in`); `times` is the thinking time in ms by exchange."""
    answers = {index: turn for index, turn in enumerate(turns) if turn.kind == Turn.Kind.TOOL_RESPONSE}
    return tuple(
        _step(
            turn,
            answers.get(index + 1),
            choice=choices.get(turn.pk),
            files=files.get(turn.pk, ()),
            thought_ms=times.get(turn.exchange_id or 0),
            states=states.get(turn.pk, {}),
        )
        for index, turn in enumerate(turns)
        if is_model(turn)
    )


def _step(
    turn: Turn,
    answer: Turn | None,
    *,
    choice: BranchChoice | None,
    files: tuple[ShownFile, ...],
    thought_ms: float | None,
    states: Mapping[int, CallState],
) -> Step:
    parts = turn.parts
    responses = [part for part in answer.parts if part.response is not None] if answer else []
    calls = [part for part in parts if part.call is not None]
    citations, scope = turn.cited, f"{turn.public}-"
    return Step(
        turn=turn,
        choice=choice,
        thoughts=_html(parts, "thought", f"{scope}thought-"),
        text=_html(parts, "text", scope, marks_of(citations)),
        cards=(
            *_code_runs(parts),
            *_unread(parts),
            *(
                _card(index, call, responses[index] if index < len(responses) else None, states.get(index))
                for index, call in enumerate(calls)
            ),
        ),
        files=files,
        thought_ms=thought_ms,
        cited=ShownCitations.of(citations, scope) if citations else None,
    )


def thoughts_label(ms: float | None) -> str:
    return "Thoughts" if ms is None else thinking_words(ms)


def _code_runs(parts: Sequence[PartView]) -> Iterable[ToolCard]:
    """Code executed by the provider, each with the result that follows it."""
    results = (part.code_result or {} for part in parts if part.kind == "code_execution_result")
    for part in parts:
        if part.kind == "executable_code":
            code, result = part.code or {}, next(results, {})
            written = str(code.get("code", ""))
            yield ToolCard(
                name=f"{str(code.get('language') or '').capitalize()} code".strip(),
                brief=written.strip().partition("\n")[0][:BRIEF_LENGTH],
                args=written,
                response=str(result.get("output", "")),
                failed=str(result.get("outcome", "OUTCOME_OK")) != "OUTCOME_OK",
                args_label="Code",
            )


def _unread(parts: Sequence[PartView]) -> Iterable[ToolCard]:
    """Parts of kinds that the chat does not show otherwise, as they came."""
    for part in parts:
        if part.kind in ("other", "tool_call", "tool_response"):
            raw = without_signature(part.raw)
            yield ToolCard(
                name=UNREAD["name"].format(keys=", ".join(raw)),
                brief=readable(raw, indent=False)[:BRIEF_LENGTH],
                args=readable(raw),
                response=UNREAD["response"],
                failed=False,
                args_label=UNREAD["label"],
                is_read=False,
            )


def _html(parts: Iterable[PartView], kind: str, scope: str, marks: Sequence[Mark] = ()) -> SafeString:
    text = "".join(part.text for part in parts if part.kind == kind)
    html = render(text, scope, marks) if text else ""
    return mark_safe(html)  # noqa: S308 - render is the sanitiser


def _card(index: int, call: PartView, answer: PartView | None, state: CallState | None) -> ToolCard:
    request, answered = call.call or {}, (answer.response or {}) if answer else {}
    response = answered.get("response")
    name = str(request.get("name", ""))
    return ToolCard(
        name=name,
        title=tool_title(name),
        brief=call_brief(request.get("args") or {}),
        args=readable(request.get("args") or {}),
        response=readable(response) if answer else "",
        failed=isinstance(response, dict) and "error" in response,
        index=index,
        state=endings.call_state(state) if state else "",
    )
