"""The steps of a run for the page: thoughts, text, tool calls with their responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString

from sessions_app.chat.citations import ShownCitations
from sessions_app.chat.open_rounds import CallState, CallStates
from sessions_app.chat.turn_contents import CONTENTS, ToolCard, thoughts_html
from sessions_app.chat.turn_files import ShownFile
from sessions_app.mcp_codes import Decision
from sessions_app.models import Exchange, Turn
from sessions_app.models.branches import BranchChoice
from sessions_app.prompt.answer_schema import Fit
from sessions_app.prompt.parts import parts_of
from sessions_app.runs.reply_facts import fold_hops
from sessions_app.runs.reply_progress import thinking_words
from sessions_app.wording import answer_schemas, endings
from sessions_app.wording.mcp import DECISIONS


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
    fit: Fit | None = None
    """Whether a JSON answer fits its schema; None for one without."""
    beside: str = ""
    """What was said in one content with the responses to its calls."""

    @property
    def fit_label(self) -> str:
        return answer_schemas.fit(self.fit) if self.fit else ""

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


@dataclass(frozen=True, slots=True)
class LoneThoughts:
    """Thoughts after which no answer came: their exchange has no turn, so the history is without them."""

    thoughts: SafeString
    thought_ms: float | None

    @property
    def thoughts_label(self) -> str:
        return thoughts_label(self.thought_ms)

    @classmethod
    def of(cls, last: Exchange, turns: Sequence[Turn], times: Mapping[int, float]) -> "LoneThoughts | None":
        """Those of the last exchange of a run that has ended, with its `turns`; `times` as for `steps_of`."""
        is_answered = any(turn.exchange_id == last.pk for turn in turns)
        may_have_thoughts = last.pk in times or bool(last.thought_tokens)
        if not may_have_thoughts or is_answered or last.turns.exists():
            return None
        wire = fold_hops(last).wire
        html = thoughts_html(parts_of(wire), f"{last.public}-") if wire else None
        return cls(html, times.get(last.pk)) if html else None


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
    content = CONTENTS.of(turn, answer)
    return Step(
        turn=turn,
        choice=choice,
        thoughts=content.thoughts,
        text=content.text,
        cards=tuple(_with_state(card, states) for card in content.cards),
        files=files,
        thought_ms=thought_ms,
        cited=content.cited,
        fit=content.fit,
        beside=content.beside,
    )


def _with_state(card: ToolCard, states: Mapping[int, CallState]) -> ToolCard:
    state = states.get(card.index) if card.index is not None else None
    if state is None:
        return card
    return replace(
        card,
        state=endings.call_state(state.open) if state.open else card.state,
        decision=DECISIONS[Decision(state.decision)] if state.decision else "",
    )


def thoughts_label(ms: float | None) -> str:
    return "Thoughts" if ms is None else thinking_words(ms)
