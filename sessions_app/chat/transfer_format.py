"""The versioned JSON format of an exported session, with the bytes of every turn.

Of exchanges only figures are exported, and they are not imported.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from sessions_app.chat.import_formats.gemini import MODEL_ROLES, USER_ROLES
from sessions_app.prompt import wire
from sessions_app.prompt.answer_schema import Fit
from sessions_app.prompt.citations import Citations
from sessions_app.prompt.parts import parts_in
from sessions_app.prompt.turns import TurnKind
from sessions_app.values import Text, check_json, check_moment, check_nesting

EXPORT_VERSION = 1
"""The version that is written, and the newest one that is read."""

ENTRIES_LIMIT = 50_000
"""Maximum turns, runs and rows of one panel."""

CONTENT_LIMIT = 40_000_000
"""Maximum bytes of one turn."""

Short = Annotated[Text, Field(max_length=400)]
Long = Annotated[Text, Field(max_length=1_000_000)]
Route = Annotated[Text, Field(max_length=64)]
Values = Annotated[dict[str, Any], AfterValidator(check_json)]
Moment = Annotated[datetime, AfterValidator(check_moment)]


def _read_citations(values: dict[str, Any]) -> dict[str, Any]:
    """What this version reads of them; nothing of another shape."""
    return Citations.restored(values).stored()


def _read_fit(values: dict[str, Any]) -> dict[str, Any]:
    fit = Fit.restored(values)
    return fit.stored() if fit else {}


CitationValues = Annotated[Values, AfterValidator(_read_citations)]


FitValues = Annotated[Values, AfterValidator(_read_fit)]


class ExportModel(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ExportedTurn(ExportModel):
    """`content` is the exact JSON of the wire, because signatures depend on every byte. Programs whose
    requests were captured write the roles of a person in more ways than Pipeweb does.

    `origin` names an earlier turn of the file; any other counts for none.
    """

    key: UUID
    parent: UUID | None = None
    kind: TurnKind
    content: Annotated[bytes, Field(max_length=CONTENT_LIMIT)]
    route: Route = ""
    refused_in: Literal[0] | None = None
    run: UUID | None = None
    origin: UUID | None = None
    edited: bool = False
    summary: bool = False
    covers: Annotated[int, Field(ge=0, le=10**6)] = 0
    language: Annotated[Text, Field(max_length=40)] = ""
    cut: bool = False
    closing: bool = False
    citations: CitationValues = {}
    fit: FitValues = {}
    created_at: Moment | None = None

    @model_validator(mode="after")
    def _validate_content(self) -> Self:
        check_nesting(self.content)
        try:
            content = wire.loads(self.content)
        except ValueError as error:
            raise ValueError("the content is not JSON") from error
        if not parts_in(check_json(content, in_bytes=True)):
            raise ValueError("the content has no parts")
        if (content.get("role") or "user") not in (MODEL_ROLES if self.kind.is_model else USER_ROLES):
            raise ValueError(f"a {self.kind} speaks as {self.kind.role}")
        return self


class ExportedRun(ExportModel):
    key: UUID
    trigger: UUID | None = None
    status: Annotated[Text, Field(max_length=12)]
    outcome: Annotated[Text, Field(max_length=24)] = ""
    error: Values = {}
    now: Moment | None = None
    ended_at: Moment | None = None
    continuations: Annotated[int, Field(ge=0, le=1000)] = 0


class ExportedExchange(ExportModel):
    """The figures of one request, for information."""

    number: int
    step: int
    run: UUID
    model: str
    served_model: str
    route: str
    provider: str
    verdict: str
    verdict_figures: dict[str, Any] = {}
    verdict_sentence: str = ""
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


class ExportedSession(ExportModel):
    title: Annotated[Text, Field(max_length=120)] = ""
    titled_by_hand: bool = False
    purpose: Long = ""
    background: Long = ""
    roles: list[Short] = []
    procedure: Short = ""
    assistant: Short = ""
    model: Annotated[Text, Field(min_length=1, max_length=80)]
    settings: Values = {}
    args: Values = {}
    head: UUID | None = None
    created_at: Moment | None = None


class Export(ExportModel):
    """The file as it is written: without validation, so that everything stored can be exported.

    Turns follow their parents; `panels` holds rows by key of the panel kind.
    """

    format: Literal["pipeweb-session"] = "pipeweb-session"
    version: int = EXPORT_VERSION
    exported_at: datetime
    session: ExportedSession
    turns: list[ExportedTurn] = []
    runs: list[ExportedRun] = []
    exchanges: list[ExportedExchange] = []
    panels: dict[str, list[dict[str, Any]]] = {}
