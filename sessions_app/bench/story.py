"""A conversation of any length, told as a run would have sent and received it; no rows, no model."""

import base64
import json
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.layers import Layers
from sessions_app.prompt.payload import GenerationConfig, Payload, assemble
from sessions_app.prompt.rendering import Segment
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, text_of, user_task

MODEL = "gemini-3-flash-preview"
ROUTE = "bench"
WINDOW = 50
"""Turns in the buffer before old ones move into the static layer."""
STEP = 26
"""Turns that move at once."""
CHUNKS = 8
WORDS = ("flight", "Paris", "late", "rain", "London", "nobody", "booked", "taxi", "because", "tomorrow")


@dataclass(slots=True)
class Sent:
    """One request and its answer, before they are rows."""

    number: int
    at: datetime
    payload: Payload
    question: TurnValue
    answer: TurnValue
    chunks: list[bytes]


@dataclass(slots=True)
class Story:
    """A conversation as it goes on: what is frozen, what is in the buffer.

    `first_chunk` is the key of the first history chunk; `ends` are the last turns of all chunks.
    """

    rng: random.Random
    words: int
    at: datetime
    first_chunk: int
    ends: list[str] = field(default_factory=list)
    frozen: list[Segment] = field(default_factory=list)
    turns: list[TurnValue] = field(default_factory=list)

    def tell(self, count: int) -> Iterator[Sent]:
        for number in range(1, count + 1):
            self.at += timedelta(minutes=9 if number % 7 == 0 else 1)
            question = user_task(self.key(), self.text(self.words))
            payload = self.payload(question, number)
            answer, chunks = self.answered(self.text(120))
            yield Sent(number, self.at, payload, question, answer, chunks)
            self.turns += [question, answer]
            if len(self.turns) >= WINDOW:
                self.freeze()

    def payload(self, trigger: TurnValue, number: int) -> Payload:
        layers = Layers(
            static=(Segment("template:static", '{"instruction":"' + "Be brief. " * 300), *self.frozen),
            dynamic=(
                Segment("panel:todos", f'"todos":"{number // 10} done"'),
                Segment("panel:file_references", '"file_references":"' + "a line of code; " * 400 + '"'),
                Segment("clock", f'"now":"{self.at:%Y-%m-%dT%H}"'),
            ),
            buffered=tuple(self.turns),
            trigger=trigger,
            declarations=wire.dumps([{"functionDeclarations": [{"name": f"tool_{n}"} for n in range(20)]}]),
        )
        cached = f"cachedContents/{len(self.frozen)}" if number % 5 else ""
        return assemble(layers, GenerationConfig(), model=MODEL, cached_content=cached)

    def answered(self, text: str) -> tuple[TurnValue, list[bytes]]:
        """A signed answer, as a turn and as the chunks that it arrived in."""
        signature = base64.b64encode(self.rng.randbytes(600)).decode()
        length = -(-len(text) // (CHUNKS - 1))
        pieces = [text[at : at + length] for at in range(0, len(text), length)]
        parts: list[dict[str, Any]] = [{"text": piece} for piece in pieces]
        parts.append({"text": "", "thoughtSignature": signature})
        usage = {"promptTokenCount": 9000, "cachedContentTokenCount": 6000, "candidatesTokenCount": 160}
        chunks = [
            wire.dumps(
                {"candidates": [{"content": {"role": "model", "parts": [part]}}], "usageMetadata": usage}
            )
            for part in parts
        ]
        content = wire.dumps({"role": "model", "parts": [{"text": "".join(pieces)}, parts[-1]]})
        return TurnValue(self.key(), TurnKind.MODEL_RESPONSE, content, ROUTE), chunks

    def freeze(self) -> None:
        old, self.turns = self.turns[:STEP], self.turns[STEP:]
        text = "\n".join(text_of(turn.wire) for turn in old)
        self.ends.append(old[-1].key)
        self.frozen.append(Segment(f"chunk:{self.first_chunk + len(self.frozen)}", json.dumps(text)[1:-1]))

    def text(self, words: int) -> str:
        return " ".join(self.rng.choices(WORDS, k=words))

    def key(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
