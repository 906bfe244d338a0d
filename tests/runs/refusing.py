"""A provider that refuses thought signatures, and seed 2's rules read from the bytes it was sent.

Nothing here is shared with `prompt/signatures`.
"""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import orjson

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.emulator.scenarios import play
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedReply

KIN = (
    "Corrupted thought signature.",
    "Invalid thought signature.",
    "Unable to submit request because Thought signature is not valid.. Learn more: https://x",
    "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for 'x'",
)
DUMMY = b"skip_thought_signature_validator"


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: its body, the real signatures it carried, and the status of its answer."""

    body: dict[str, Any]
    signatures: frozenset[bytes]
    status: int

    @property
    def is_refused(self) -> bool:
        return self.status == 400


@dataclass
class RefusingTransport(EmulatorTransport):
    """Asks the emulator, unless the request carries a signature of `refused`.

    `forget` refuses all that were sent or received so far. `in_stream` answers 200 with the error as an
    event, `before` are events before it. `refuses_all` refuses every real signature, `is_strict` dummies
    too. `demands_all` refuses a request that breaks seed 2's rules.
    """

    refused: set[bytes] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)
    requests: list[Sent] = field(default_factory=list)
    play: Callable[[ScenarioContext], ScriptedReply] = play
    message: str = KIN[0]
    in_stream: bool = False
    before: bytes = b""
    refuses_all: bool = False
    is_strict: bool = False
    demands_all: bool = False
    then: list[int] = field(default_factory=list)
    """Statuses of the answers after a refusal, before the emulator is asked again."""

    def __post_init__(self) -> None:
        super().__init__(Emulator(delay=0, play=self.play))

    def forget(self) -> None:
        self.refused |= self.seen

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raw = await request.aread()
        if not is_generation(request):
            return await super().handle_async_request(request)
        body = orjson.loads(raw)
        carried = frozenset(signatures_of(body))
        self.seen |= carried - {DUMMY}
        is_refused = self._refuses(body, carried)
        response = self._refusal(request) if is_refused else await self._pass(request)
        self.requests.append(Sent(body, carried - {DUMMY}, 400 if is_refused else response.status_code))
        return response

    def _refuses(self, body: dict[str, Any], carried: frozenset[bytes]) -> bool:
        refused = carried - {DUMMY} if self.refuses_all else carried & self.refused
        if self.demands_all:
            try:
                check_rules(body)
            except AssertionError:
                return True
        return bool(refused or (self.is_strict and carried))

    async def _pass(self, request: httpx2.Request) -> httpx2.Response:
        if self.requests and self.requests[-1].status != 200 and self.then:
            status = self.then.pop(0)
            return httpx2.Response(status, json=error(status, "The model is overloaded."))
        return await super().handle_async_request(request)

    def _refusal(self, request: httpx2.Request) -> httpx2.Response:
        answer: Any = error(400, self.message)
        if self.in_stream:
            events = self.before + b"data: " + orjson.dumps(answer) + b"\r\n\r\n"
            return httpx2.Response(200, content=events, headers={"content-type": "text/event-stream"})
        return httpx2.Response(400, json=[answer] if "openai" in request.url.path else answer)


def is_generation(request: httpx2.Request) -> bool:
    return request.url.path.endswith((":streamGenerateContent", "/chat/completions"))


def error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": "INVALID_ARGUMENT"}}


def signatures_of(value: Any) -> Iterator[bytes]:
    """Decoded, of a body in either dialect."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if key in ("thoughtSignature", "thought_signature"):
            yield base64.urlsafe_b64decode(inner.replace("+", "-").replace("/", "_"))
        elif isinstance(inner, dict | list):
            yield from signatures_of(inner)


def check_rules(body: dict[str, Any]) -> None:
    """Seed 2 for a body of the native API. Raises AssertionError."""
    contents = body["contents"]
    texts = [at for at, one in enumerate(contents) if one["role"] == "user" and is_text(one)]
    for at, one in enumerate(contents):
        calls = [part for part in one["parts"] if "functionCall" in part]
        assert one["parts"] and {} not in one["parts"], f"contents[{at}] holds nothing"
        if one["role"] != "model":
            continue
        assert [part for part in calls[1:] if "thoughtSignature" in part] == []
        if calls and at > texts[-1]:
            assert calls[0].get("thoughtSignature"), f"contents[{at}]: the first call is not signed"
        if calls:
            results = [part for part in contents[at + 1]["parts"] if "functionResponse" in part]
            assert len(results) == len(calls) == len(contents[at + 1]["parts"])


def is_text(content: dict[str, Any]) -> bool:
    return any(part.get("text") for part in content["parts"])
