"""Commands of the chat socket, from the browser to the server: a pydantic union discriminated by `type`.

Unknown commands are rejected.
"""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, TypeAdapter, model_validator

from sessions_app.events import Wire
from sessions_app.mcp_codes import Choice
from sessions_app.media import COUNT_LIMIT
from sessions_app.values import Text

MESSAGE_LIMIT = 100_000
"""Characters of one message."""

SEQ_LIMIT = 2**31


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
    """Answer an ask of a run that waits: call number `index` of this step."""

    type: Literal["decide"] = "decide"
    run: UUID
    step: Annotated[int, Field(ge=0, le=SEQ_LIMIT)]
    index: Annotated[int, Field(ge=0, le=SEQ_LIMIT)]
    choice: Choice


class Withdraw(Wire):
    """Remove a queued message."""

    type: Literal["withdraw"] = "withdraw"
    client_id: UUID


AnyCommand = Send | Stop | Retry | Resume | Edit | Join | Ack | Withdraw | Decide
Command = Annotated[AnyCommand, Field(discriminator="type")]
COMMANDS: TypeAdapter[AnyCommand] = TypeAdapter(Command)
