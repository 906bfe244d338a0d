"""What travels on the chat socket: commands from the browser, events from the server.

Both are closed unions of pydantic models told apart by `type`; the consumer parses with
`COMMANDS.validate_json` and sends `event.wire()`. Unknown commands are refused, never guessed.
"""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from sessions_app.media import COUNT_LIMIT

MESSAGE_LIMIT = 100_000
"""Characters a person may send in one message."""


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def wire(self) -> str:
        return self.model_dump_json()


class Send(Wire):
    """Start a run with this text. `client_id` is unique per session: a retry never makes two runs.

    `language` is the browser's (`pt-PT`); prompts fall back to it. `attachments` were uploaded before;
    a message that has one may be without words.
    """

    type: Literal["send"] = "send"
    client_id: UUID
    text: Annotated[str, Field(max_length=MESSAGE_LIMIT)]
    language: Annotated[str, Field(max_length=40)] = ""
    attachments: Annotated[tuple[UUID, ...], Field(max_length=COUNT_LIMIT)] = ()

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.text and not self.attachments:
            raise ValueError("The message is empty.")
        return self


class Stop(Wire):
    """End a run now, keep what it wrote."""

    type: Literal["stop"] = "stop"
    run: UUID


class Retry(Wire):
    """Answer the trigger of a finished run once more; `turn` is that trigger as the branch in view has it."""

    type: Literal["retry"] = "retry"
    client_id: UUID
    run: UUID
    turn: UUID | None = None


class Edit(Wire):
    """Ask with other words in the place of an earlier message; the old branch stays as it was."""

    type: Literal["edit"] = "edit"
    client_id: UUID
    turn: UUID
    text: Annotated[str, Field(min_length=1, max_length=MESSAGE_LIMIT)]


class Join(Wire):
    """Follow a run; events up to `after` are already on the page."""

    type: Literal["join"] = "join"
    run: UUID
    after: Annotated[int, Field(ge=0)] = 0


class Ack(Wire):
    """The page has shown the run's events up to `seq`; the server sends no further than a window beyond."""

    type: Literal["ack"] = "ack"
    run: UUID
    seq: Annotated[int, Field(ge=0)]


class Withdraw(Wire):
    """Take a queued message back before it is answered."""

    type: Literal["withdraw"] = "withdraw"
    client_id: UUID


Command = Annotated[Send | Stop | Retry | Edit | Join | Ack | Withdraw, Field(discriminator="type")]
COMMANDS: TypeAdapter[Send | Stop | Retry | Edit | Join | Ack | Withdraw] = TypeAdapter(Command)


class Hello(Wire):
    """First event on every connection: the run to follow, if one is active."""

    type: Literal["hello"] = "hello"
    active_run: UUID | None
    moves: int = 0
    """How often another branch came into view so far (`Session.moves`)."""


class Refused(Wire):
    """A command was not carried out; the page gives the text back to the person."""

    type: Literal["refused"] = "refused"
    client_id: UUID | None = None
    message: str
    hint: str = ""


class Queued(Wire):
    """One message that waits for the active run to end."""

    client_id: UUID
    text: str
    files: int = 0


class Queue(Wire):
    """All waiting messages of the session, oldest first; sent whenever they change."""

    type: Literal["queue"] = "queue"
    messages: list[Queued]


class Moved(Wire):
    """Another branch is in view now: a page that shows an earlier `moves` fetches the transcript."""

    type: Literal["moved"] = "moved"
    moves: int


class Titled(Wire):
    """The session has another title now."""

    type: Literal["titled"] = "titled"
    title: str


class Started(Wire):
    """A run exists now. `client_id` lets the sender's page match its own bubble.

    It takes the place of the earlier run `retry_of`, or of the message `replaces`, and all that follows.
    """

    type: Literal["started"] = "started"
    run: UUID
    seq: int = 0
    client_id: UUID
    text: str
    title: str = ""
    retry_of: UUID | None = None
    replaces: UUID | None = None
    continuation: int = 0
    """How often in a row the session has gone on by itself: above 0, nobody wrote this message."""
    files: str = ""
    """The files of the message, as HTML of the server."""


class RunEvent(Wire):
    """Base of what a run reports: `seq` counts from 1 in each run without gaps."""

    run: UUID
    seq: int


class Delta(RunEvent):
    """Text added to the open block of step `step`: the answer or a thought, as it came."""

    type: Literal["delta"] = "delta"
    step: int
    kind: Literal["text", "thought"]
    text: str


class Thought(RunEvent):
    """The thoughts of a step have ended: the answer begins. `words` say how long they took."""

    type: Literal["thought"] = "thought"
    step: int
    words: str


class Block(RunEvent):
    """A markdown block has closed: `html` replaces the first `chars` characters of the open text."""

    type: Literal["block"] = "block"
    step: int
    kind: Literal["text", "thought"]
    html: str
    chars: int


class Call(RunEvent):
    """The model asked for a tool: the card of `index` within the step; `args` is readable JSON."""

    type: Literal["call"] = "call"
    step: int
    index: int
    name: str
    args: str


class Result(RunEvent):
    """A tool answered the call of the same step and index; `response` is readable JSON."""

    type: Literal["result"] = "result"
    step: int
    index: int
    failed: bool
    response: str
    ms: float


class Status(RunEvent):
    """What the run is doing, in words for the person; `wait` is a countdown in seconds."""

    type: Literal["status"] = "status"
    text: str
    wait: float = 0


class Finished(RunEvent):
    """The run is over and its rows are committed: the page fetches the final rendering.

    It counts whatever its `seq`: after a crash the page may have seen more than the log has kept.
    """

    type: Literal["finished"] = "finished"
    status: Literal["completed", "stopped", "failed", "interrupted"]
    words: int = 0


Event = Annotated[
    Hello
    | Refused
    | Queue
    | Moved
    | Titled
    | Started
    | Delta
    | Thought
    | Block
    | Call
    | Result
    | Status
    | Finished,
    Field(discriminator="type"),
]
