"""A recorded exchange played by the emulator.

What the model decided (its words, which functions it called, how much it thought, why it
stopped) is taken from the recording; where that stands on the wire is the emulator's to say.
Signatures and cache names of earlier exchanges are replaced by those the emulator gave.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from sessions_app.conform.recordings.recorded import ROUTES, RecordedExchange
from sessions_app.conform.recordings.returned_steps import StepLedger
from sessions_app.conform.recordings.rules import Answer, Wire, kind_of, parts_of
from sessions_app.emulator import Emulator
from sessions_app.emulator.answer_form import NEWEST, FormTable
from sessions_app.emulator.file_store import FileMetadata
from sessions_app.emulator.http import ApiRequest
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedCall, ScriptedReply
from sessions_app.emulator.signer import DUMMY_WORDS


@dataclass(slots=True)
class Playback:
    """One emulator for the exchanges of one recording, in their order, with the forms of its day."""

    forms: FormTable = NEWEST
    script: ScriptedReply = field(default_factory=ScriptedReply)
    cache: str = ""
    given: dict[str, str] = field(default_factory=dict)
    steps: StepLedger = field(default_factory=StepLedger)
    emulator: Emulator = field(init=False)

    def __post_init__(self) -> None:
        self.emulator = Emulator(delay=0, play=self._play, forms=self.forms)

    def lacks_cache(self, exchange: RecordedExchange) -> bool:
        """Whether it needs a cache whose creation was not played."""
        return exchange.status == 200 and not self.cache and bool(exchange.cache_key)

    def replay(self, exchange: RecordedExchange) -> Answer:
        """The emulator's answer to the recorded request."""
        self.script = script_of(exchange.response_chunks)
        method, path = ROUTES[exchange.endpoint]
        target = path.format(model=exchange.model_requested, cache=self._cache_name)
        body = self._body(exchange)
        request = ApiRequest(
            method,
            f"/v1beta/{target}",
            _query(exchange),
            {"x-goog-api-key": _key(exchange)},
            b"" if body is None else orjson.dumps(body),
        )
        response = self.emulator.handle(request)
        returned = self.steps.returned(body) if exchange.generates else None
        answer = Answer(response.status, _chunks(asyncio.run(_drain(response))), returned=returned)
        self._remember(exchange, answer)
        return answer

    def _play(self, _: ScenarioContext) -> ScriptedReply:
        return self.script

    @property
    def _cache_name(self) -> str:
        return self.cache or "cachedContents/none"

    def _body(self, exchange: RecordedExchange) -> Wire | None:
        """The request with our signatures and cache name; a foreign signature becomes a dummy."""
        if exchange.request is None:
            return None
        body: Wire = _replaced(exchange.request, self.given | {"file": self._uploaded()})
        if exchange.cache_key:
            body[exchange.cache_key] = self._cache_name
        return body

    def _uploaded(self) -> str:
        """The URI of a file that stands for every recorded one."""
        files = self.emulator.files
        upload_id = files.start(FileMetadata(name="files/recorded"), "application/pdf", "conformance")
        return files.finish(upload_id, "https://emulator.test/v1beta").uri

    def _remember(self, exchange: RecordedExchange, answer: Answer) -> None:
        if "name" in answer.chunks[0] and exchange.endpoint == "cachedContents.post":
            self.cache = answer.chunks[0]["name"]
        self.steps.remember(answer)
        pairs = zip(_signatures(exchange.answer), _signatures(answer), strict=False)
        self.given |= {spelled(their): our for their, our in pairs}


def script_of(chunks: list[Wire]) -> ScriptedReply:
    """What the model decided."""
    last = chunks[-1]
    parts = [part for chunk in chunks for part in parts_of(chunk)]
    shown = tuple(part["text"] for part in parts if kind_of(part) == "thought")
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    candidate = (last.get("candidates") or [{}])[0]
    message = candidate.get("finishMessage", "")
    return ScriptedReply(
        text="".join(part["text"] for part in parts if kind_of(part) == "text"),
        calls=tuple(ScriptedCall(call["name"], call.get("args", {})) for call in calls),
        thoughts=shown,
        unseen_thoughts=0 if shown else last.get("usageMetadata", {}).get("thoughtsTokenCount", 0),
        finish=candidate.get("finishReason", "STOP"),
        finish_message="" if calls else message,
        has_content="candidates" not in last or "content" in candidate,
        has_parts=bool(parts) or "candidates" not in last,
    )


def spelled(signature: str) -> str:
    return signature.replace("-", "+").replace("_", "/").rstrip("=")


def _replaced(value: Any, given: dict[str, str]) -> Any:
    """`given` has our signature for each of theirs, and a file's URI under "file"."""
    if isinstance(value, list):
        return [_replaced(inner, given) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: _replacement(key, inner, given) for key, inner in value.items()}


def _replacement(key: str, value: Any, given: dict[str, str]) -> Any:
    if key in {"thoughtSignature", "thought_signature"}:
        return given.get(spelled(value), DUMMY_WORDS[1])
    if key in {"fileUri", "file_uri"} and "/files/" in value:
        return given["file"]
    return _replaced(value, given)


def _signatures(answer: Answer) -> Iterator[str]:
    return (part["thoughtSignature"] for part in answer.parts if "thoughtSignature" in part)


def _query(exchange: RecordedExchange) -> dict[str, str]:
    is_array = exchange.raw.lstrip().startswith("[") or "json-array-stream" in exchange.tags
    return {} if is_array else {"alt": "sse"}


def _key(exchange: RecordedExchange) -> str:
    is_refused = "API key not valid" in orjson.dumps(exchange.response_chunks).decode()
    return "an-invalid-key" if is_refused else "conformance"


def _chunks(body: bytes) -> tuple[Wire, ...]:
    if body.startswith(b"data:"):
        frames = body.removesuffix(b"\r\n\r\n").split(b"\r\n\r\n")
        return tuple(orjson.loads(frame.removeprefix(b"data: ")) for frame in frames)
    value = orjson.loads(body)
    return tuple(value) if isinstance(value, list) else (value,)


async def _drain(response: Any) -> bytes:
    return b"".join([piece async for piece in response.body])
