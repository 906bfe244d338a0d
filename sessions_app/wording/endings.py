"""How a run ended that brought no complete answer and what it cost; parts that are not read."""

from collections.abc import Sequence

TITLES = {
    "failed": "The run failed.",
    "stopped": "Stopped.",
    "interrupted": "The server stopped while this was being answered.",
    "unanswered": "Not answered.",
}
"""By the run's status; `failed` only where neither an error nor an outcome says more, `unanswered` where no
request stands behind a stopped run: of an import, of a fork, or stopped before one was made.
"""

ARRIVALS = {
    "something": "What had arrived is kept.",
    "nothing": "Nothing had arrived.",
    "unasked": "No request was made for it here.",
}
"""What a stopped or interrupted run kept; `something` also of one that failed within an answer."""

CALL_STATES = {
    "unknown": "unknown whether it ran",
    "not_run": "not run",
}
"""By the state of a tool call without a response."""

RESUMPTIONS = {
    "kept": "The results of its tools are kept. Continue runs only what is left.",
    "unknown": "Unknown whether it ran: {names}. It is not run again unless you say so.",
}
"""Beside the buttons that go on with a run."""

COSTS = {
    "uncharged": "The provider counted no tokens for it.",
    "charged": "It cost {prompt:,} prompt and {output:,} output tokens.",
    "charged_before": "What was sent before cost {prompt:,} prompt and {output:,} output tokens.",
    "cut_off": "It cost {prompt:,} prompt and {output:,} output tokens, by the provider’s last count.",
}

UNREAD = {
    "name": "Part: {keys}",
    "label": "As it came",
    "response": "Pipeweb does not read parts of this kind. It is kept as it came.",
}
"""For a part of a kind that the chat does not show otherwise."""


def title(status: str) -> str:
    """For a run's status; of one that failed where nothing says more."""
    return TITLES[status]


def broken_off_texts(status: str, *, is_asked: bool, has_arrived: bool) -> tuple[str, str]:
    """Title and hint for the status of a run that was stopped or interrupted."""
    if not (is_asked or has_arrived):
        return TITLES["unanswered" if status == "stopped" else status], ARRIVALS["unasked"]
    return TITLES[status], ARRIVALS["something" if has_arrived else "nothing"]


def beside_what_stands(hint: str, *, is_cut: bool) -> str:
    """The hint of a failure, where there is one; `is_cut`: the beginning of an answer stands there."""
    return f"{ARRIVALS['something']} {hint}" if hint and is_cut else hint


def call_state(state: str) -> str:
    return CALL_STATES[state]


def resumption(unknown: Sequence[str]) -> str:
    """What going on does; `unknown` names the calls of which it is unknown whether they ran."""
    return RESUMPTIONS["unknown" if unknown else "kept"].format(names=", ".join(unknown))


def cost(prompt: int, output: int, *, is_cut_off: bool = False, is_before: bool = False) -> str:
    """Whether a run that brought no answer cost something; both in tokens.

    `is_before`: its requests were answered, and what failed came after them.
    """
    if is_before:
        return COSTS["charged_before"].format(prompt=prompt, output=output)
    if not prompt and not output:
        return COSTS["uncharged"]
    return COSTS["cut_off" if is_cut_off else "charged"].format(prompt=prompt, output=output)
