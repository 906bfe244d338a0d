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

NAMED_OR_SENT = {
    "same": "Exchange {named} names a cache where exchange {sent} sends the static layer: the model reads "
    "the same either way, so this is no change.",
    "differs": "Exchange {named} names a cache where exchange {sent} sends the static layer. That alone "
    "would be no change, but the layer itself is another one: what differs in it stands below.",
    "unseen": "Exchange {named} names a cache that nobody was seen making: whether it holds what exchange "
    "{sent} sends is not known.",
    "two_unseen": "Exchanges {sent} and {named} name two caches, and nobody was seen making both: whether "
    "they hold the same is not known.",
    "none": "",
}
"""For two requests of which at least one names a cache; for `two_unseen` both do."""

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
