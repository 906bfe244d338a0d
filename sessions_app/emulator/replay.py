"""Recordings served again: a request that was recorded gets the recorded answer.

A folder holds JSON files `{"exchanges": [{"request", "status", "response_chunks", …}]}`. What
matches is the newest user text and the number of tool rounds since, so that a text typed into
any chat finds its recording whatever stands before it. The words are the model's own; the
framing is the emulator's.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from sessions_app.emulator.refusals import Refusal
from sessions_app.emulator.scripts import Scene, Script, newest_text, rounds_of
from sessions_app.emulator.shapes import GenerateRequest
from sessions_app.emulator.spelling import decode_bytes

Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded answer; it stands in for a Reply. Of the script only the pace, the trouble and
    the refusal count."""

    model: str
    chunks: tuple[Wire, ...]
    script: Script

    def under(self, script: Script) -> "Recording":
        """The same answer with another script."""
        return replace(self, script=script)

    def stream(self) -> list[Wire]:
        return list(self.chunks)

    def whole(self) -> Wire:
        return self.chunks[0]


class Recordings:
    """What a folder holds, found by cue. `signatures` are theirs: they are accepted when they return."""

    def __init__(self, folder: Path | None = None) -> None:
        self._by_cue: dict[tuple[str, int], list[Recording]] = defaultdict(list)
        self.signatures: set[bytes] = set()
        for path in sorted(folder.glob("*.json")) if folder else ():
            for exchange in orjson.loads(path.read_bytes()).get("exchanges", ()):
                self._keep(exchange)

    def find(self, scene: Scene, *, streams: bool) -> Recording | None:
        """The asked model's recording before any other's; a stream cannot be told whole."""
        found = self._by_cue.get((scene.text, len(scene.rounds)), [])
        usable = [recording for recording in found if streams or len(recording.chunks) == 1]
        own = [recording for recording in usable if recording.model == scene.model.name]
        return next(iter(own or usable), None)

    def __len__(self) -> int:
        return sum(map(len, self._by_cue.values()))

    def _keep(self, exchange: Wire) -> None:
        chunks = exchange.get("response_chunks") or []
        if "enerateContent" not in str(exchange.get("endpoint")) or not exchange.get("request"):
            return
        try:
            asked = GenerateRequest.model_validate(exchange["request"])
        except ValidationError:
            return
        if chunks and asked.contents and (text := newest_text(asked.contents)):
            model = exchange.get("model_requested") or ""
            recording = Recording(model, tuple(chunks), _script(chunks[0]))
            self._by_cue[text, len(rounds_of(asked.contents))].append(recording)
            self.signatures |= set(_signatures(chunks))


def _script(chunk: Wire) -> Script:
    """An ordinary one, or a refusal in the recorded words."""
    if not (error := chunk.get("error")):
        return Script()
    refusal = Refusal(error["code"], error["status"], error["message"], error.get("details"))
    return Script(refusal=refusal)


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
