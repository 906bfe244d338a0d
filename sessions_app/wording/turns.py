"""What the kinds of turns are called."""

from sessions_app.prompt.turns import TurnKind

KINDS: dict[str, str] = {
    TurnKind.USER_TASK: "user task",
    TurnKind.MODEL_RESPONSE: "model response",
    TurnKind.FUNCTION_CALLING: "function calling",
    TurnKind.TOOL_RESPONSE: "tool response",
    TurnKind.COMPRESSED_HISTORY: "compressed history",
}


def kind(code: str) -> str:
    """Empty for a kind that another version wrote."""
    return KINDS.get(code, "")
