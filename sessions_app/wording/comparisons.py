"""Two requests compared: why one cannot be, and what changed in the state of their sessions."""

from sessions_app.prompt.comparisons import ComparisonProblem, StateSubject

PROBLEMS: dict[str, str] = {
    ComparisonProblem.NOT_READ: (
        "This names no exchange. Give its number, the address of its page, or “session/number” with the id "
        "from the session's address."
    ),
    ComparisonProblem.NOT_FOUND: "None of your sessions has this exchange.",
    ComparisonProblem.PURGED: "What that exchange sent was purged by a rule of retention: nothing is left to "
    "compare with.",
}

SUBJECTS: dict[str, str] = {
    StateSubject.MODEL: "Model",
    StateSubject.ENDPOINT: "Endpoint",
    StateSubject.SETTING: "Setting",
    StateSubject.CACHING: "Caching",
    StateSubject.TEXT: "Text",
    StateSubject.PANEL: "Panel",
    StateSubject.TOOL: "Tool",
    StateSubject.HISTORY: "History",
}
