"""Sentences about MCP servers, their tools, and asks before a call."""

from collections.abc import Mapping
from typing import Any

from sessions_app.mcp_codes import Decision, ListingLoss, SchemaLoss, ServerProblem

PROBLEMS: Mapping[ServerProblem, str] = {
    ServerProblem.COMMAND_NOT_ALLOWED: "The command {command} is not among PIPEWEB_MCP_COMMANDS.",
    ServerProblem.NOT_STARTED: "The program {command} cannot be started.",
    ServerProblem.START_TIMEOUT: "The server did not start within {seconds:g} seconds.",
    ServerProblem.LIST_TIMEOUT: "The server did not list its tools within {seconds:g} seconds.",
    ServerProblem.SECRETS_UNREADABLE: (
        "The file of its variables or headers, in the folder mcp_secrets of the data folder, cannot be read."
    ),
    ServerProblem.ENDED: "The server ended.",
    ServerProblem.UNREADABLE: "The server said what cannot be read.",
    ServerProblem.TOO_LARGE: "The server sent more than a megabyte at once, or packed it.",
    ServerProblem.UNREACHABLE: "The server cannot be reached.",
    ServerProblem.REFUSED: "The server refused: {message}",
    ServerProblem.PAUSED: "The server failed and is started again in {seconds} seconds at the earliest.",
    ServerProblem.TOO_MANY: "{limit} servers run already, all of them busy.",
}

UNKNOWN_EFFECT = "If this happened during a call, it is unknown whether it did anything."

HINTS: Mapping[ServerProblem, str] = {
    ServerProblem.PAUSED: "Go on without it, or call it again later.",
    ServerProblem.TOO_MANY: "Call it again later.",
    ServerProblem.ENDED: UNKNOWN_EFFECT,
    ServerProblem.UNREADABLE: UNKNOWN_EFFECT,
    ServerProblem.TOO_LARGE: UNKNOWN_EFFECT,
}

OTHER_HINT = "Go on without it and say so."

SCHEMA_LOSSES: Mapping[SchemaLoss, str] = {
    SchemaLoss.KEYWORD: "{place}: Gemini knows no such rule.",
    SchemaLoss.REFERENCE: "{place}: what it refers to is not in the schema.",
    SchemaLoss.RECURSION: "{place}: the schema contains itself; the inner one is any object.",
    SchemaLoss.TOO_MANY_REFERENCES: "{place}: its references lead to too much; it is declared as a text.",
    SchemaLoss.TYPE_ASSUMED: "{place}: no type is named; it is declared as a text.",
    SchemaLoss.CHOICES: "{place}: of several types or parts not all are declared.",
    SchemaLoss.ENUM: "{place}: of the values to choose from only texts can be declared.",
    SchemaLoss.PROPERTY_NAME: "{place}: the name has characters that Gemini refuses; it is left out.",
    SchemaLoss.TOO_DEEP: "{place}: nested too deeply; it is declared as a text.",
    SchemaLoss.TOO_MANY_PROPERTIES: "{place}: too many arguments; the rest is left out.",
    SchemaLoss.TEXT_CUT: "{place}: the text is shortened.",
    SchemaLoss.NOT_AN_OBJECT: "{place}: the arguments are no object; none are declared.",
}

LISTING_LOSSES: Mapping[ListingLoss, str] = {
    ListingLoss.TOO_MANY_TOOLS: "{count:,} tools are left out: a server may have 128.",
    ListingLoss.TOO_MANY_PAGES: "The list did not end: its later pages were not read.",
    ListingLoss.TOO_LARGE: "{count:,} tools are left out: their declarations have more than 20,000 bytes.",
    ListingLoss.SAME_NAME: "{count:,} tools are left out: another one has their name.",
    ListingLoss.UNUSABLE_NAME: "{count:,} tools are left out: their names are empty, too long or no text.",
}

LOG_UNREADABLE = "The file cannot be read."

SECRETS_NOT_KEPT = (
    "The rest is saved, but its variables or headers are not: the folder mcp_secrets of the data folder "
    "cannot be written. Let the server's user write there, and enter them again."
)

NO_COMMANDS = (
    "No program may be started here: set PIPEWEB_MCP_COMMANDS to the paths of those that may, "
    "such as /usr/bin/node, and start Pipeweb again."
)

WHOLE = "arguments"
"""The place of a loss that concerns all of a schema."""

DECISIONS: Mapping[Decision, str] = {
    Decision.ALLOWED: "Allowed",
    Decision.REFUSED: "Refused",
    Decision.EXPIRED: "Nobody answered in time: refused",
}

REFUSED_CALLS: Mapping[Decision, str] = {
    Decision.REFUSED: "The user refused this call.",
    Decision.EXPIRED: "Nobody allowed this call in time, so it was not run.",
}
"""What the model reads as the error of the call …"""

REFUSED_HINTS: Mapping[Decision, str] = {
    Decision.REFUSED: "Do not repeat it unless the user asks for it.",
    Decision.EXPIRED: "Say what you wanted to do. The user can ask for it again.",
}
"""… and as its hint."""


def refused_call(decision: Decision) -> tuple[str, str] | None:
    """An error and a hint for the model; None for a call that was allowed."""
    if decision not in REFUSED_CALLS:
        return None
    return REFUSED_CALLS[decision], REFUSED_HINTS[decision]


def problem_texts(code: str, figures: Mapping[str, Any]) -> tuple[str, str]:
    """A sentence and a hint."""
    problem = ServerProblem(code)
    return PROBLEMS[problem].format(**figures), HINTS.get(problem, OTHER_HINT)


def schema_loss(code: str, place: str) -> str:
    return SCHEMA_LOSSES[SchemaLoss(code)].format(place=place or WHOLE)


def listing_loss(code: str, count: int) -> str:
    return LISTING_LOSSES[ListingLoss(code)].format(count=count)
