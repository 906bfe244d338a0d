"""Messages of the chat socket: commands from the browser, events from the server.

Both are pydantic unions discriminated by `type`. Unknown commands are rejected.
"""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from sessions_app.mcp_codes import Choice, Decision
from sessions_app.media import COUNT_LIMIT
from sessions_app.values import Text

CARRY_ON = "Please go on from where you stopped."
"""The message that the button Continue sends; the page shows both answers as one."""

MESSAGE_LIMIT = 100_000
"""Characters of one message."""

SEQ_LIMIT = 2**31


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def wire(self) -> str:
        return self.model_dump_json()


class Send(Wire):
    """Start a run with this text; idempotent by `client_id`, which is unique per session.

    `language` is the browser's (`pt-PT`). `attachments` are uploaded; with one, `text` may be empty.
    """

    type: Literal["send"] = "send"
    client_id: UUID
    text: Annotated[Text, Field(max_length=MESSAGE_LIMIT)]
    language: Annotated[Text, Field(max_length=40)] = ""
    attachments: Annotated[tuple[UUID, ...], Field(max_length=COUNT_LIMIT)] = ()

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.text and not self.attachments:
            raise ValueError("The message is empty.")
        return self


class Stop(Wire):
    """Stop a run and keep its text."""

    type: Literal["stop"] = "stop"
    run: UUID


class Retry(Wire):
    """Answer the message of a finished run again, from the start: its tools run again.

    `turn` is that message in the branch in view. `model` answers, by default that of the session.
    """

    type: Literal["retry"] = "retry"
    client_id: UUID
    run: UUID
    turn: UUID | None = None
    model: Annotated[Text, Field(max_length=80)] = ""


class Resume(Wire):
    """Go on with a run that ended without an answer, from its tool responses `turn`.

    Calls that did not begin are run. `repeat` also runs those of which it is unknown whether they ran.
    """

    type: Literal["resume"] = "resume"
    client_id: UUID
    run: UUID
    turn: UUID
    repeat: bool = False


class Edit(Wire):
    """Send a new version of an earlier message, on a branch of its own."""

    type: Literal["edit"] = "edit"
    client_id: UUID
    turn: UUID
    text: Annotated[Text, Field(min_length=1, max_length=MESSAGE_LIMIT)]


class Join(Wire):
    """Follow a run; the page has its events up to `after`."""

    type: Literal["join"] = "join"
    run: UUID
    after: Annotated[int, Field(ge=0, le=SEQ_LIMIT)] = 0


class Ack(Wire):
    """The page has shown the run's events up to `seq`; the server sends at most a window beyond."""

    type: Literal["ack"] = "ack"
    run: UUID
    seq: Annotated[int, Field(ge=0, le=SEQ_LIMIT)]


class Decide(Wire):
    """Answer an ask of a run that waits: call number `index` of its round."""

    type: Literal["decide"] = "decide"
    run: UUID
    index: Annotated[int, Field(ge=0, le=SEQ_LIMIT)]
    choice: Choice


class Withdraw(Wire):
    """Remove a queued message."""

    type: Literal["withdraw"] = "withdraw"
    client_id: UUID


AnyCommand = Send | Stop | Retry | Resume | Edit | Join | Ack | Withdraw | Decide
Command = Annotated[AnyCommand, Field(discriminator="type")]
COMMANDS: TypeAdapter[AnyCommand] = TypeAdapter(Command)


class Hello(Wire):
    """First event of a connection: the active run, if any."""

    type: Literal["hello"] = "hello"
    active_run: UUID | None
    head_version: int = 0
    """Number of changes of the branch in view (`Session.head_version`)."""


class Refused(Wire):
    """A command was rejected; the page restores the person's text."""

    type: Literal["refused"] = "refused"
    client_id: UUID | None = None
    message: str
    hint: str = ""


class Queued(Wire):
    """A message that waits for the end of the active run."""

    client_id: UUID
    text: str
    files: int = 0


class Queue(Wire):
    """All queued messages of the session, oldest first; sent when they change."""

    type: Literal["queue"] = "queue"
    messages: list[Queued]


class Moved(Wire):
    """The branch in view changed: a page with an earlier `head_version` fetches the transcript."""

    type: Literal["moved"] = "moved"
    head_version: int


class Titled(Wire):
    """The session has a new title."""

    type: Literal["titled"] = "titled"
    title: str


class Started(Wire):
    """A run began. `client_id` identifies the message on the sender's page.

    It replaces the run `retry_of`, or the message `replaces`, and all that follows. It continues the run
    `resumes`, whose steps stay; results of their last calls come as those of step 0.
    """

    type: Literal["started"] = "started"
    run: UUID
    seq: int = 0
    client_id: UUID
    text: str
    title: str = ""
    retry_of: UUID | None = None
    replaces: UUID | None = None
    resumes: UUID | None = None
    continuation: int = 0
    """Number of automatic runs since the person's last message; above 0, no person wrote this text."""
    files: str = ""
    """The files of the message as HTML."""
    goes_on: bool = False
    """Whether the answer goes on with the one before it: the message is not shown."""


class RunEvent(Wire):
    """Base of the other events of a run; `seq` counts from 1 without gaps."""

    run: UUID
    seq: int


class Delta(RunEvent):
    """Text added to the open block of a step."""

    type: Literal["delta"] = "delta"
    step: int
    kind: Literal["text", "thought"]
    text: str


class Thought(RunEvent):
    """The thoughts of a step ended; `words` is the thinking time as text."""

    type: Literal["thought"] = "thought"
    step: int
    words: str


class Block(RunEvent):
    """A markdown block closed: `html` replaces the first `chars` characters of the open text."""

    type: Literal["block"] = "block"
    step: int
    kind: Literal["text", "thought"]
    html: str
    chars: int


class Open(RunEvent):
    """The open block so far: `html` replaces its newest piece, and stands for the text up to `chars`.

    After a piece that `is_settled` the next one is added.
    """

    type: Literal["open"] = "open"
    step: int
    kind: Literal["text", "thought"]
    html: str
    chars: int
    is_settled: bool


class Call(RunEvent):
    """A function call of the model, number `index` of the step; `args` is indented JSON.

    `title` and `brief` are for a line: what it does, and with which values.
    """

    type: Literal["call"] = "call"
    step: int
    index: int
    name: str
    args: str
    title: str = ""
    brief: str = ""


class Result(RunEvent):
    """The response to the call of the same step and index, as indented JSON."""

    type: Literal["result"] = "result"
    step: int
    index: int
    failed: bool
    response: str
    ms: float


class Ask(RunEvent):
    """A person is asked before the call of the same step and index; refused at `expires_at` (ISO)."""

    type: Literal["ask"] = "ask"
    step: int
    index: int
    title: str
    server: str
    args: str
    expires_at: str


class Decided(RunEvent):
    """What became of the ask of the same step and index; `words` says it."""

    type: Literal["decided"] = "decided"
    step: int
    index: int
    decision: Decision
    words: str


class Status(RunEvent):
    """What the run is doing, as text; `wait` is a countdown in seconds."""

    type: Literal["status"] = "status"
    text: str
    wait: float = 0


class Finished(RunEvent):
    """The run is over and committed: the page fetches the final HTML.

    It is valid with any `seq`: after a crash the page may be ahead of the log.
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
    | Open
    | Call
    | Result
    | Ask
    | Decided
    | Status
    | Finished,
    Field(discriminator="type"),
]
