"""What was done with sessions, and how full their context window is."""

DONE = {
    "delete": "{subject} deleted.",
    "archive": "{subject} in the archive.",
    "restore": "{subject} back.",
    "unarchive": "{subject} back in the list.",
}
"""By action; the others show nothing."""

SUBJECTS = {"one": "“{title}” is", "several": "{count} chats are"}

WINDOW_WARNINGS = {
    "calm": "",
    "nearly": "The window is filling up: close files, or compress what was said.",
    "almost": "The next message may not fit: compress what was said, or go on in a new chat.",
}


def done(action: str, title: str, count: int) -> str:
    """The message after an action on `count` sessions; `title` is that of the first."""
    subject = SUBJECTS["one" if count == 1 else "several"].format(title=title, count=count)
    return DONE[action].format(subject=subject)
