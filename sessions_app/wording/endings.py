"""How a run ended that brought no complete answer and what it cost; parts that are not read."""

from collections.abc import Sequence

TITLES = {
    "failed": "The run failed.",
    "stopped": "Stopped.",
    "interrupted": "The server stopped while this was being answered.",
}
"""By the run's status; `failed` only where neither an error nor an outcome says more."""

HINTS = {
    "failed": "",
    "stopped": "What had arrived is kept.",
    "interrupted": "What had arrived is kept.",
}

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
    "cut_off": "It cost {prompt:,} prompt and {output:,} output tokens, by the provider’s last count.",
}

UNREAD = {
    "name": "Part: {keys}",
    "label": "As it came",
    "response": "Pipeweb does not read parts of this kind. It is kept, and sent back unchanged.",
}
"""For a part of a kind that the chat does not show otherwise."""


def ending_texts(status: str) -> tuple[str, str]:
    """Title and hint for a run's status."""
    return TITLES[status], HINTS[status]


def call_state(state: str) -> str:
    return CALL_STATES[state]


def resumption(unknown: Sequence[str]) -> str:
    """What going on does; `unknown` names the calls of which it is unknown whether they ran."""
    return RESUMPTIONS["unknown" if unknown else "kept"].format(names=", ".join(unknown))


def cost(prompt: int, output: int, *, is_cut_off: bool = False) -> str:
    """Whether a run that brought no answer cost something; both in tokens."""
    if not prompt and not output:
        return COSTS["uncharged"]
    return COSTS["cut_off" if is_cut_off else "charged"].format(prompt=prompt, output=output)
