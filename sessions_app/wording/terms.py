"""The words of a prompt's anatomy, each explained in one line where it stands; the simple view has none."""

EXPLANATIONS: dict[str, str] = {
    "static": "Static layer: who the model is. Its instructions and tools; they rarely change.",
    "dynamic": "Dynamic layer: what is true now. Todos, files, the clock.",
    "buffered": "Buffered layer: the conversation so far.",
    "trigger": "Trigger: what asks for the answer, a message or the results of tools.",
    "detached": "Detached: old turns that moved from the conversation into the static layer, to be cached.",
    "exchange": "Exchange: one request to the provider with its response. A session numbers them.",
    "panel": "Panel: one source of what the model reads besides the conversation, such as todos or files.",
    "signature": "Signature: the seal of a thought. It goes back unchanged, so that the model can go on.",
    "prefix": "Prefix: the beginning of a request. What has not changed there can come from a cache.",
}
"""By term; the first four are the names of the layers."""


def explanation(term: str) -> str:
    """Empty for another word."""
    return EXPLANATIONS.get(term, "")
