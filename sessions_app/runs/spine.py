"""Whether a session goes on when a run is over: the continue rules of seed 4, as one pure decision."""

from dataclasses import dataclass
from typing import Literal

from sessions_app.errors import GuardRail

Ended = Literal["answered", "cut", "stopped", "failed", "interrupted"]
Rule = Literal["message", "cut", "todos"]


@dataclass(frozen=True, slots=True)
class State:
    """What the decision depends on. `continuations` counts the runs since a person last wrote that began
    by themselves; `rail` is the limit that has been reached, if any; `open_todos` are titles."""

    ended: Ended
    waiting: int = 0
    continue_cut: bool = True
    continue_todos: bool = False
    open_todos: tuple[str, ...] = ()
    continuations: int = 0
    max_continuations: int = 5
    rail: GuardRail | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    """The next run begins: for a waiting message, or by itself."""

    rule: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing begins. `held` is the rule that would have gone on and was not let, `rail` what held it."""

    why: str
    held: Rule | None = None
    rail: GuardRail | None = None


_ENDS = {
    "stopped": "A person stopped the run, so nothing goes on by itself.",
    "failed": "The run failed; a message or a retry goes on.",
    "interrupted": "The server stopped in the middle; a message or a retry goes on.",
}


def decide(state: State) -> Continue | Stop:
    """A stop or a failure wins over everything; then a waiting message, a cut answer, open todos.

    Nothing begins by itself before the model has answered what last began so: this is asked only when
    a run is over, and a run that brought no answer ends here.
    """
    if state.ended in _ENDS:
        return Stop(_ENDS[state.ended])
    if state.waiting:
        return Continue("message", f"{state.waiting} waiting; the oldest message is next.")
    if state.ended == "cut" and state.continue_cut:
        return _by_itself(state, "cut", "The answer was cut at the output limit.")
    if state.continue_todos and state.open_todos:
        return _by_itself(state, "todos", f"{len(state.open_todos)} todos are open.")
    return Stop("No message waits, and no rule asks for more.")


def _by_itself(state: State, rule: Rule, why: str) -> Continue | Stop:
    count, most = state.continuations, state.max_continuations
    rail = state.rail
    if rail is None and count >= most:
        words = f"{why} It went on by itself {count} times of at most {most} since the last message."
        rail = GuardRail(words, hint="Write a message to go on.", rail="max_continuations")
    if rail is not None:
        return Stop(rail.message, held=rule, rail=rail)
    return Continue(rule, f"{why} Continuation {count + 1} of at most {most}.")
