"""One request of an answer, with what came of it."""

from dataclasses import dataclass

from sessions_app.prompt.parts import holds_media
from sessions_app.prompt.reply import Outcome, Reply
from sessions_app.runs.reply_progress import ReplyProgress
from sessions_app.runs.request import PreparedRequest


@dataclass(frozen=True, slots=True)
class Hop:
    """One request of an answer, and the answer up to its end.

    `total_ms` is how long the response took. An answer that ends its run is stored with that end.
    """

    prepared: PreparedRequest
    progress: ReplyProgress
    reply: Reply
    total_ms: float
    is_stored: bool


def ends_run(reply: Reply) -> bool:
    """Whether it is stored with the end of its run; files are shown before that, from the stored turn."""
    is_answer = reply.outcome.is_answer and reply.outcome is not Outcome.CALLS
    return is_answer and reply.wire is not None and not holds_media(reply.wire)
