"""A program before the emulator, recorded as if it had been relayed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
from django.utils import timezone

from sessions_app.emulator import Emulator
from sessions_app.models import CaptureAddress, CapturedRequest
from sessions_app.prompt.parts import without_signature
from tests.capture.answers import Asking
from tests.capture.conversations import TOOLS, user
from tests.emulator.helpers import send

MODELS = ("gemini-3-flash-preview", "gemini-2.5-flash")
RULES = "You keep the archive of a small town, and answer in one sentence where you can. " * 300
OTHER_TOOLS = [{"functionDeclarations": [{"name": "weather"}, {"name": "scales"}]}]


@dataclass
class EmulatedProgram:
    """One conversation; `named` gives its session a name. Steps are names of its methods in `STEPS`."""

    address: CaptureAddress
    named: bool
    emulator: Emulator = field(default_factory=lambda: Emulator(delay=0))
    contents: list[Any] = field(default_factory=list)
    system: str = RULES
    tools: Any = field(default_factory=lambda: TOOLS)
    model: int = 0
    cache: str = ""
    asked: int = 0

    def __post_init__(self) -> None:
        self.program = Asking(self.address)
        # What is booked and what the emulator keeps have the real clock.
        self.program.now = timezone.now() - timedelta(hours=1)

    @property
    def model_name(self) -> str:
        return MODELS[self.model]

    def say(self) -> None:
        self._ask(f"Question {self.asked} of the archive: who was mayor then?")

    def call(self) -> None:
        """Two rounds: the answer's calls get their results."""
        self._ask('call weather {"city": "Oslo"}')

    def fail(self) -> None:
        self._ask(f"Question {self.asked} /error 503 once")

    def again(self) -> None:
        """The last answer is asked for anew."""
        while self.contents and self.contents[-1]["role"] == "model":
            self.contents.pop()
        if self.contents:
            self._exchange()

    def edit(self) -> None:
        last = max((at for at, one in enumerate(self.contents) if "text" in one["parts"][0]), default=-1)
        while last >= 0 and self.contents[last]["role"] != "user":
            last -= 1
        del self.contents[max(last, 0) :]
        self.say()

    def bare(self) -> None:
        """Signatures of texts are dropped, which the API allows."""
        for one in self.contents:
            if not any("functionCall" in part for part in one["parts"]):
                one["parts"] = [without_signature(part) for part in one["parts"]]
        self.say()

    def clock(self) -> None:
        self.system = f"It is {self.asked} o'clock. {RULES}"
        self.cache = ""
        self.say()

    def flip(self) -> None:
        self.tools = OTHER_TOOLS if self.tools is TOOLS else TOOLS
        self.cache = ""
        self.say()

    def switch(self) -> None:
        self.model, self.cache = 1 - self.model, ""
        self.say()

    def slide(self) -> None:
        """A window: the oldest question goes, with all that answered it."""
        users = [at for at, one in enumerate(self.contents) if _is_question(one)]
        if len(users) > 1:
            del self.contents[: users[1]]
        self.say()

    def keep(self) -> None:
        """Instruction and tools go into a cache, which later requests name."""
        held = {"model": f"models/{self.model_name}", **self._beginning(), "ttl": "3600s"}
        answer = self._send("POST", "cachedContents", held, asks_model=False)
        self.cache = orjson.loads(answer.received_body())["name"] if answer.status == 200 else ""
        self.say()

    def lose(self) -> None:
        """The cache is deleted behind the back of the request that names it."""
        if self.cache:
            self._send("DELETE", self.cache, None, asks_model=False)
        self.say()

    def _ask(self, text: str) -> None:
        self.contents.append(user(text))
        self._exchange()

    def _exchange(self) -> None:
        """Until the model has answered: results for calls, the same once more after a failure."""
        self.asked += 1
        for _ in range(4):
            row = self._send("POST", f"models/{self.model_name}:generateContent", self._body())
            answer = orjson.loads(row.received_body())
            if row.status != 200:
                self.cache = ""
                continue
            content = answer["candidates"][0]["content"]
            self.contents.append(content)
            results = [_result(part["functionCall"]) for part in content["parts"] if "functionCall" in part]
            if not results:
                return
            self.contents.append({"role": "user", "parts": results})

    def _body(self) -> dict[str, Any]:
        return {
            "contents": self.contents,
            **({"cachedContent": self.cache} if self.cache else self._beginning()),
        }

    def _beginning(self) -> dict[str, Any]:
        return {"systemInstruction": {"parts": [{"text": self.system}]}, "tools": self.tools}

    def _send(self, method: str, path: str, sent: Any, *, asks_model: bool = True) -> CapturedRequest:
        body = b"" if sent is None else orjson.dumps(sent)
        status, said = send(self.emulator, method, path, body)
        facts: dict[str, Any] = {"method": method, "path": f"/v1beta/{path}", "asks_model": asks_model}
        facts |= {"model": self.model_name if asks_model else "", "name": "archive" if self.named else ""}
        return self.program.ask(body, said, status, **facts)


def _is_question(one: dict[str, Any]) -> bool:
    return one["role"] == "user" and "text" in one["parts"][0]


def _result(call: dict[str, Any]) -> dict[str, Any]:
    answer = {"name": call["name"], "response": {"sky": "clear"}}
    return {"functionResponse": answer | ({"id": call["id"]} if "id" in call else {})}


STEPS: dict[str, Callable[[EmulatedProgram], None]] = {
    step.__name__: step
    for step in (
        EmulatedProgram.say,
        EmulatedProgram.call,
        EmulatedProgram.fail,
        EmulatedProgram.again,
        EmulatedProgram.edit,
        EmulatedProgram.bare,
        EmulatedProgram.clock,
        EmulatedProgram.flip,
        EmulatedProgram.switch,
        EmulatedProgram.slide,
        EmulatedProgram.keep,
        EmulatedProgram.lose,
    )
}
