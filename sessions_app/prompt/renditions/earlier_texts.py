"""Sentences of earlier versions about two JSON objects, which other formats do not have."""

_SENTENCES = {
    "The text part after this object is a second JSON object with the present state of things, "
    "current_datetime last.": "The present state of things stands beside this object, the time last.",
    "Take facts about the present (files, todos, the time) from the second JSON object,": (
        "Take facts about the present (files, todos, the time) from that present state,"
    ),
    "It stands in the second JSON object, under instructions.": (
        "It stands in the present state of things, under instructions."
    ),
    "They bind you like the texts of the first object;": "They bind you like your standing brief;",
}
"""As stored requests have them, and as they are said now."""


def true_of_all_formats(text: str) -> str:
    for earlier, now in _SENTENCES.items():
        text = text.replace(earlier, now)
    return text
