"""The progress of a response: its folded parts, time to the first chunk, thinking time."""

from dataclasses import replace
from typing import Any

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import AnswerRefused
from sessions_app.gemini import bounds
from sessions_app.prompt.reply import ChunkView, Folder, Reply


class ReplyProgress:
    """Folds the chunks of one response. Times are milliseconds since the request was sent.

    `dialect` is that of the chunks (`Exchange.dialect`). `before` is the hop that this one goes on with.
    """

    def __init__(self, dialect: str, before: "ReplyProgress | None" = None) -> None:
        self.folder = Folder(dialect)
        self.answer: Folder = before.answer if before else self.folder
        """Folds the hops before as well: their parts are one answer."""
        self._size: int = before._size if before else 0
        self._thought_before = before.answer_thought_ms if before else None
        self.first_ms: float | None = None
        self.thought_ms: float | None = None
        """When the answer began, or the last thought arrived; None without thoughts."""
        self._has_answer = False

    @property
    def has_begun(self) -> bool:
        return self.first_ms is not None

    @property
    def has_shown(self) -> bool:
        """Whether a viewer has seen a part of the reply, so that it cannot be asked for again."""
        return self._has_answer or self.thought_ms is not None

    @property
    def answer_thought_ms(self) -> float | None:
        """The thinking time of all hops."""
        before, now = self._thought_before, self.thought_ms
        return now if before is None else before + (now or 0.0)

    def response(self, answer: Reply) -> Reply:
        """This response alone, with the outcome of the `answer` so far."""
        return answer if self.answer is self.folder else replace(self.folder.reply(), outcome=answer.outcome)

    def check_room(self, body: bytes) -> None:
        """Raises AnswerRefused where the answer, with its earlier hops, has no room for another chunk."""
        if self._size + len(body) > bounds.ANSWER_LIMIT:
            raise AnswerRefused(RefusalCode.ANSWER_TOO_LARGE, limit=bounds.ANSWER_LIMIT)

    def take(self, ms: float, body: bytes, event: dict[str, Any] | None = None) -> ChunkView:
        """Adds a chunk, parsed already where there is an `event`; returns what is new.

        Raises ValueError for invalid JSON.
        """
        self._size += len(body)
        if self.first_ms is None:
            self.first_ms = ms
        view = self.answer.add(body, event)
        if self.folder is not self.answer:
            self.folder.add(body)
        if not self._has_answer:
            self._time(view, ms)
        return view

    def _time(self, view: ChunkView, ms: float) -> None:
        if view.has_thought or (view.has_answer and self.thought_ms is not None):
            self.thought_ms = ms
        self._has_answer = view.has_answer


def thinking_words(ms: float) -> str:
    """The thinking time as text for people."""
    seconds = round(ms / 1000)
    if not seconds:
        return "Thought for less than a second"
    minutes, rest = divmod(seconds, 60)
    return f"Thought for {minutes} min {rest} s" if minutes else f"Thought for {seconds} s"
