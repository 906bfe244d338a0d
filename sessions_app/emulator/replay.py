"""Replays recorded responses.

A folder holds JSON files `{"exchanges": [{"request", "status", "response_chunks", …}]}`; exchanges of another
form are left out. A request matches by its newest user text and the number of tool rounds since,
whatever precedes that text. The response objects are the recorded ones; the framing is the emulator's.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import PydanticCustomError, from_json

from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.gemini_requests import GenerateRequest
from sessions_app.emulator.scripted_reply import (
    ScenarioContext,
    ScriptedReply,
    newest_user_text,
    tool_rounds,
)
from sessions_app.emulator.wire_model import JsonObject, decode_bytes

_SIGNATURE_KEYS = ("thoughtSignature", "thought_signature")


class _Error(BaseModel):
    code: int
    message: str = ""
    status: str = ""
    details: list[JsonObject] | None = None


class _Exchange(BaseModel):
    """One request with its answer."""

    endpoint: str
    request: GenerateRequest
    response_chunks: Annotated[list[JsonObject], Field(min_length=1)]
    model_requested: str | None = None


class _File(BaseModel):
    exchanges: list[Any]


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """One recorded response. Of the script only the pace, the fault and the error count."""

    model: str
    chunks: tuple[JsonObject, ...]
    script: ScriptedReply

    def with_script(self, script: ScriptedReply) -> Self:
        return replace(self, script=script)

    def stream(self) -> list[JsonObject]:
        return list(self.chunks)

    def full_response(self) -> JsonObject:
        return self.chunks[0]


class Recordings:
    """The recordings of a folder. `signatures` are those in them, which are accepted when they return.

    Raises ValueError where a file is no JSON.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._by_text: dict[tuple[str, int], list[RecordedResponse]] = defaultdict(list)
        self.signatures: set[bytes] = set()
        for path in sorted(folder.glob("*.json")) if folder else ():
            for exchange in _exchanges_in(path):
                with suppress(ValidationError):
                    self._keep(_Exchange.model_validate(exchange))

    def find(self, context: ScenarioContext, *, streams: bool) -> RecordedResponse | None:
        """The asked model's recording before any other's; a recorded stream is no unary response."""
        found = self._by_text.get((context.text, len(context.rounds)), [])
        usable = [recording for recording in found if streams or len(recording.chunks) == 1]
        own = [recording for recording in usable if recording.model == context.model.name]
        return next(iter(own or usable), None)

    def __len__(self) -> int:
        return sum(map(len, self._by_text.values()))

    def _keep(self, exchange: _Exchange) -> None:
        """Raises ValidationError for an error of another form."""
        chunks, contents = exchange.response_chunks, exchange.request.contents
        if "enerateContent" not in exchange.endpoint or not (text := newest_user_text(contents)):
            return
        recording = RecordedResponse(exchange.model_requested or "", tuple(chunks), _script(chunks[0]))
        self._by_text[text, len(tool_rounds(contents))].append(recording)
        self.signatures |= set(_signatures(chunks))


def _exchanges_in(path: Path) -> list[Any]:
    """None in JSON of another form. Raises ValueError for what is no JSON: such a file is torn."""
    try:
        found = from_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    try:
        return _File.model_validate(found).exchanges
    except ValidationError:
        return []


def _script(chunk: JsonObject) -> ScriptedReply:
    """An ordinary one, or one with the recorded error."""
    if not chunk.get("error"):
        return ScriptedReply()
    error = _Error.model_validate(chunk["error"])
    recorded = ApiError(error.code, error.status, error.message, error.details, rule=Rule.RECORDED)
    return ScriptedReply(error=recorded)


def _signatures(value: Any) -> Iterator[bytes]:
    """Every thoughtSignature in a JSON value."""
    if isinstance(value, list):
        for inner in value:
            yield from _signatures(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in _SIGNATURE_KEYS and (found := _decoded(inner)) is not None:
                yield found
            yield from _signatures(inner)


def _decoded(signature: Any) -> bytes | None:
    """None for what is no base64, which no request may carry either."""
    try:
        found = decode_bytes(signature)
    except PydanticCustomError:
        return None
    return found if isinstance(found, bytes) else None
