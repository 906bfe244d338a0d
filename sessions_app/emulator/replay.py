"""Replays recorded responses.

A folder holds JSON files `{"exchanges": [{"request", "status", "response_chunks", …}]}`. A request
matches by its newest user text and the number of tool rounds since, whatever precedes that text.
The response objects are the recorded ones; the framing is the emulator's.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import orjson
from pydantic import ValidationError

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
    """The recordings of a folder. `signatures` are those in them, which are accepted when they return."""

    def __init__(self, folder: Path | None = None) -> None:
        self._by_text: dict[tuple[str, int], list[RecordedResponse]] = defaultdict(list)
        self.signatures: set[bytes] = set()
        for path in sorted(folder.glob("*.json")) if folder else ():
            for exchange in orjson.loads(path.read_bytes()).get("exchanges", ()):
                self._keep(exchange)

    def find(self, context: ScenarioContext, *, streams: bool) -> RecordedResponse | None:
        """The asked model's recording before any other's; a recorded stream is no unary response."""
        found = self._by_text.get((context.text, len(context.rounds)), [])
        usable = [recording for recording in found if streams or len(recording.chunks) == 1]
        own = [recording for recording in usable if recording.model == context.model.name]
        return next(iter(own or usable), None)

    def __len__(self) -> int:
        return sum(map(len, self._by_text.values()))

    def _keep(self, exchange: JsonObject) -> None:
        chunks = exchange.get("response_chunks") or []
        if "enerateContent" not in str(exchange.get("endpoint")) or not exchange.get("request"):
            return
        try:
            asked = GenerateRequest.model_validate(exchange["request"])
        except ValidationError:
            return
        if chunks and asked.contents and (text := newest_user_text(asked.contents)):
            model = exchange.get("model_requested") or ""
            recording = RecordedResponse(model, tuple(chunks), _script(chunks[0]))
            self._by_text[text, len(tool_rounds(asked.contents))].append(recording)
            self.signatures |= set(_signatures(chunks))


def _script(chunk: JsonObject) -> ScriptedReply:
    """An ordinary one, or one with the recorded error."""
    if not (error := chunk.get("error")):
        return ScriptedReply()
    code, details = error["code"], error.get("details")
    recorded = ApiError(code, error["status"], error["message"], details, rule=Rule.RECORDED)
    return ScriptedReply(error=recorded)


def _signatures(value: Any) -> Iterator[bytes]:
    """Every thoughtSignature in a JSON value."""
    if isinstance(value, list):
        for inner in value:
            yield from _signatures(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "thoughtSignature" and isinstance(found := decode_bytes(inner), bytes):
                yield found
            yield from _signatures(inner)
