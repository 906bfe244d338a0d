"""Why a file or a form is not taken."""

from math import ceil, floor

from sessions_app.error_codes import BodyRefusal
from sessions_app.media import WORD_TYPE

TENTH = 100_000
"""Bytes of a tenth of a megabyte."""

BODIES: dict[str, str] = {
    BodyRefusal.TOO_LARGE: "This is too large: at most {limit} are taken here.",
    BodyRefusal.TOO_SLOW: "It arrived too slowly. Send it again.",
    BodyRefusal.TOO_MANY: "Too many files are being uploaded to this server. Send it again in a moment.",
    BodyRefusal.SIGNED_OUT: "You are signed out. Sign in again in another tab, then send it again.",
    BodyRefusal.FORGED: "The page is out of date. Reload it, then send it again.",
}

FILES = {
    "too_large": "“{name}” has {size}; a file may have {limit}.",
    "too_many": "A message may have {count} files; further ones are not attached.",
    "folder": "“{name}” is a folder.",
}
"""Said by the browser before anything is sent, and by the server."""

HINTS = {
    "image": "Attach a smaller version of it.",
    "audio": "Attach a shorter part of it.",
    "video": "Attach a shorter part of it.",
    "application/pdf": "Attach fewer pages of it.",
    WORD_TYPE: "Attach the part of it that matters, as a document of its own.",
    "text": "Attach the part of it that matters.",
    "other": "Choose a smaller file.",
    "too_many": "Send these first.",
    "folder": "Attach the files in it that matter.",
}
"""By type of a file that is too large, or by the first half of its type."""


OPENED = {
    "open": "{path} was opened for this message. The model reads it every time.",
    "closed": "{path} was opened for this message, and is closed since.",
}
"""For a file of the workspace that is shown above a message."""


def opened(path: str, *, is_open: bool) -> str:
    return OPENED["open" if is_open else "closed"].format(path=path)


def body_refusal(reason: BodyRefusal, limit: int) -> str:
    """`limit` in bytes."""
    return BODIES[reason].format(limit=_megabytes(floor(limit / TENTH)))


def too_large(name: str, size: int, limit: int, mime: str) -> tuple[str, str]:
    """The sentence for a file beyond the limit, and a hint that fits its type."""
    shown = {"size": _megabytes(ceil(size / TENTH)), "limit": _megabytes(floor(limit / TENTH))}
    sentence = FILES["too_large"].format(name=name, **shown)
    return sentence, HINTS.get(mime) or HINTS.get(mime.partition("/")[0]) or HINTS["other"]


def too_many(count: int) -> tuple[str, str]:
    return FILES["too_many"].format(count=count), HINTS["too_many"]


def _megabytes(tenths: int) -> str:
    """Sizes are rounded up and limits down, so that they never look the same."""
    return f"{tenths / 10:g} MB"
