"""Events of the chat socket, from the server to the browser: a pydantic union discriminated by `type`."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from sessions_app.mcp_codes import Decision

CARRY_ON = "Please go on from where you stopped."
"""The message that the button Continue sends; the page shows both answers as one."""


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def wire(self) -> str:
        return self.model_dump_json()


class Hello(Wire):
    """First event of a connection: the active run, and that of the last answer in view, if any.

    A page that does not have the run fetches the transcript.
    """

    type: Literal["hello"] = "hello"
    active_run: UUID | None
    last_run: UUID | None = None
    head_version: int = 0
    """Number of changes of the branch in view (`Session.head_version`)."""


class Refused(Wire):
    """A command was rejected; the page restores the person's text."""

    type: Literal["refused"] = "refused"
    client_id: UUID | None = None
    message: str
    hint: str = ""


class Known(Wire):
    """A command that was sent again was begun before; its run may be in view, or not any more."""

    type: Literal["known"] = "known"
    client_id: UUID


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
