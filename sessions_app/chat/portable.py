"""A session as a file: the whole tree with the bytes of every turn. Versioned, checked when it is read.

An exchange is exported as its figures only and is not imported: what was sent is evidence of the place
where it was sent.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from sessions_app.errors import NotImportable
from sessions_app.prompt import wire
from sessions_app.prompt.turns import TurnKind, has_parts

TURNS_LIMIT = 50_000
CONTENT_LIMIT = 20_000_000
"""Characters of one turn."""

Short = Annotated[str, Field(max_length=400)]
Long = Annotated[str, Field(max_length=1_000_000)]
Route = Annotated[str, Field(max_length=64)]


class Portable(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class PortableTurn(Portable):
    """`content` is the content exactly as it was on the wire, as text: signatures depend on every byte."""

    key: UUID
    parent: UUID | None = None
    kind: TurnKind
    content: Annotated[str, Field(max_length=CONTENT_LIMIT)]
    route: Route = ""
    run: UUID | None = None
    origin: UUID | None = None
    edited: bool = False
    summary: bool = False
    covers: Annotated[int, Field(ge=0, le=10**6)] = 0
    language: Annotated[str, Field(max_length=40)] = ""
    cut: bool = False
    created_at: datetime | None = None

    @field_validator("content")
    @classmethod
    def _is_content(cls, value: str) -> str:
        try:
            content = wire.loads(value.encode())
        except ValueError as error:
            raise ValueError("is not the JSON of a content") from error
        if not isinstance(content, dict) or not has_parts(value.encode()):
            raise ValueError("has no parts")
        return value

    @model_validator(mode="after")
    def _speaks_in_its_role(self) -> Self:
        if wire.loads(self.content.encode()).get("role") != self.kind.role:
            raise ValueError(f"a {self.kind} speaks as {self.kind.role}")
        return self


class PortableRun(Portable):
    key: UUID
    trigger: UUID | None = None
    status: Annotated[str, Field(max_length=12)]
    outcome: Annotated[str, Field(max_length=24)] = ""
    error: dict[str, Any] = {}
    now: datetime | None = None
    ended_at: datetime | None = None
    continuations: Annotated[int, Field(ge=0, le=1000)] = 0


class PortableExchange(Portable):
    """The figures of one request, for reading."""

    number: int
    step: int
    run: UUID
    model: str
    served_model: str
    route: str
    provider: str
    verdict: str
    verdict_words: str
    usage: dict[str, Any]
    finish_reason: str
    outcome: str
    response_id: str
    request_sha256: str
    request_size: int
    first_chunk_ms: float | None
    total_ms: float | None
    usd: str | None
    started_at: datetime


class PortableSession(Portable):
    title: Annotated[str, Field(max_length=120)] = ""
    titled_by_hand: bool = False
    purpose: Long = ""
    background: Long = ""
    roles: list[Short] = []
    procedure: Short = ""
    assistant: Short = ""
    model: Annotated[str, Field(min_length=1, max_length=80)]
    settings: dict[str, Any] = {}
    args: dict[str, Any] = {}
    head: UUID | None = None
    created_at: datetime | None = None


class Export(Portable):
    """The file. Turns stand after their parents."""

    format: Literal["pipeweb-session"] = "pipeweb-session"
    version: Literal[1] = 1
    exported_at: datetime
    session: PortableSession
    turns: Annotated[list[PortableTurn], Field(max_length=TURNS_LIMIT)] = []
    runs: Annotated[list[PortableRun], Field(max_length=TURNS_LIMIT)] = []
    exchanges: list[PortableExchange] = []

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        known: set[UUID] = set()
        for turn in self.turns:
            if turn.key in known or (turn.parent is not None and turn.parent not in known):
                raise ValueError("every turn stands once, after its parent")
            known.add(turn.key)
        if self.session.head is not None and self.session.head not in known:
            raise ValueError("the head is none of the turns")
        return self

    @property
    def depths(self) -> dict[UUID, int]:
        """Distance from the root of each turn."""
        depths: dict[UUID, int] = {}
        for turn in self.turns:
            depths[turn.key] = depths[turn.parent] + 1 if turn.parent else 0
        return depths


def read(body: bytes) -> Export:
    """Raises NotImportable with what is wrong and where."""
    try:
        return Export.model_validate_json(body)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in problem["loc"]) or "The file"
        raise NotImportable(
            f"This is not a session that Pipeweb can read: {where}: {problem['msg']}.",
            hint="Choose a JSON file from “Export as JSON”.",
        ) from error
