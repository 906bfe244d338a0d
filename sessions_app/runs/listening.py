"""What has been heard of one reply: its parts, when the first came, how long the model thought."""

from sessions_app.prompt.reply import ChunkView, Folder


class Listening:
    """Takes the chunks of one reply as they come; times are milliseconds since the request left."""

    def __init__(self) -> None:
        self.folder = Folder()
        self.first_ms: float | None = None
        self.thought_ms: float | None = None
        """Until the answer began, or until the last thought while it has not; None without thoughts."""
        self._has_answer = False

    @property
    def has_begun(self) -> bool:
        return self.first_ms is not None

    def take(self, ms: float, body: bytes) -> ChunkView:
        """What the chunk adds. Raises ValueError when it is not JSON."""
        if self.first_ms is None:
            self.first_ms = ms
        view = self.folder.add(body)
        if not self._has_answer:
            self._time(view, ms)
        return view

    def _time(self, view: ChunkView, ms: float) -> None:
        if view.has_thought or (view.has_answer and self.thought_ms is not None):
            self.thought_ms = ms
        self._has_answer = view.has_answer


def thinking_words(ms: float) -> str:
    """How long a person waited while the model thought."""
    seconds = round(ms / 1000)
    if not seconds:
        return "Thought for less than a second"
    minutes, rest = divmod(seconds, 60)
    return f"Thought for {minutes} min {rest} s" if minutes else f"Thought for {seconds} s"
