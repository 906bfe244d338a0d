"""What a shared link shows: the content of a branch and nothing else, as data of its own.

A snapshot has the fields of these models only. What else a session has (settings, instructions, panels,
signatures, costs, names, requests, errors of the provider) has no place in it.
"""

from hashlib import sha256
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from sessions_app.error_codes import SharedFailure
from sessions_app.models.columns import storable
from sessions_app.prompt.citations import NO_CITATIONS, Citations
from sessions_app.prompt.outcomes import Outcome
from sessions_app.wording import endings, outcomes, sharing

SIZE_LIMIT = 4_000_000
"""Bytes of a snapshot."""

Text = Annotated[str, BeforeValidator(storable)]
"""Without NUL and lone surrogates, which have no form in UTF-8."""

CallState = Literal["done", "failed", "none", "unknown", "not_run"]
Author = Literal["person", "pipeweb", "summary"]
RUN_ENDINGS = ("failed", "stopped", "interrupted")
"""Statuses of a run that a snapshot tells; of the error behind them it has a SharedFailure at most."""


def _checked_ending(code: str) -> str:
    if code and code not in {*RUN_ENDINGS, *Outcome, *SharedFailure}:
        raise ValueError("neither a status nor an outcome nor a failure")
    return code


class SnapshotModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class File(SnapshotModel):
    """An attachment; `number` is its place among the files of the link, from 0 on."""

    number: int
    name: Text
    mime: Text
    size: int | None
    is_made: bool


class Call(SnapshotModel):
    """A call of a tool, or code that the provider ran: arguments and response as indented JSON, or text."""

    name: Text
    brief: Text
    args: Text
    response: Text
    state: CallState
    is_code: bool

    @property
    def state_words(self) -> str:
        return sharing.CALL_STATES[self.state]


class Step(SnapshotModel):
    """The output of one request: `thoughts` and `text` are Markdown."""

    thoughts: Text = ""
    text: Text = ""
    calls: tuple[Call, ...] = ()
    files: tuple[File, ...] = ()
    citations: Citations = NO_CITATIONS
    thought_ms: float | None = None
    """How long the model thought; None without details, or if it is not known."""
    edited: bool = False
    closing: bool = False
    covers: int = 0
    """Turns that a shortened answer stands for."""
    beside: Text = ""
    """What was said in one content with the responses to its calls."""


class Message(SnapshotModel):
    """A message with its answer. `ending`: a status of RUN_ENDINGS, an outcome, a SharedFailure, or empty."""

    author: Author
    text: Text
    covers: int = 0
    """Turns that a summary stands for."""
    files: tuple[File, ...] = ()
    withheld: int = 0
    """Files of the message that are not shared. Snapshots of before count those of its answer as well."""
    steps: tuple[Step, ...] = ()
    answer_withheld: int = 0
    """Files of the answer that are not shared."""
    ending: Annotated[str, AfterValidator(_checked_ending)] = ""
    goes_on: bool = False
    """Whether its answer is the rest of the one above: it has no text."""

    @property
    def is_asked(self) -> bool:
        """Whether there is a message: a model may have spoken first."""
        return bool(self.text or self.files or self.withheld)

    @property
    def is_rest(self) -> bool:
        # Snapshots of before have the text that Pipeweb sent.
        return self.goes_on or self.author == "pipeweb"

    @property
    def ending_title(self) -> str:
        if self.ending in RUN_ENDINGS:
            return endings.title(self.ending)
        if self.ending in set(SharedFailure):
            return sharing.failure(SharedFailure(self.ending))
        return outcomes.sentence(Outcome(self.ending)) if self.ending else ""


class Snapshot(SnapshotModel):
    version: Literal[1] = 1
    title: Text
    has_details: bool
    messages: tuple[Message, ...]

    def stored(self) -> bytes:
        return self.model_dump_json().encode()

    @property
    def digest(self) -> str:
        """The hash by which a link is made of what its preview showed, and of nothing else."""
        return sha256(self.stored()).hexdigest()
