"""A provider that plays faults and judges every request by seed 2's rules, sharing no code with Pipeweb.

It serves messages like `task=ab12 rounds=2 calls=3`: so many rounds of `add_todo` calls, each with a title of
its own, then an answer. `faults` holds what befalls the next requests for an answer, one each.
"""

import asyncio
import base64
import itertools
import json
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from random import Random
from typing import Any

import httpx2

DUMMIES = {b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go"}
FAULTS = ("", "refuse", "expire", "cut", "nofinish", "unknown", "continue", "503", "400", "hang")
"""`hang` stops in mid-answer for ever and sets `hanging`; `refuse` makes every signature given so far bad."""

_TASK = re.compile(r"task=(\w+) rounds=(\d+) calls=(\d+)")

Body = dict[str, Any]


class Refusal(Exception):
    """An error answer: its status code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class UnsteadyProvider(httpx2.AsyncBaseTransport):
    """`violations` are requests that no client may make; `bodies` all requests for an answer."""

    def __init__(self, rng: Random) -> None:
        self.faults: deque[str] = deque()
        self.hanging = threading.Event()
        self.violations: list[str] = []
        self.bodies: list[Body] = []
        self.said: list[str] = []
        self._rng = rng
        self._issued: set[bytes] = set()
        self._refused: set[bytes] = set()
        self._told: set[bytes] = set()
        self._caches: dict[str, Body] = {}
        self._tokens: dict[str, str] = {}
        self._numbers = itertools.count(1)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raw = await request.aread()
        body: Body = json.loads(raw) if raw else {}
        path = request.url.path
        try:
            if path.endswith(":streamGenerateContent"):
                return self._answer(body)
            if "/cachedContents" in path:
                return self._cache(request.method, path.rpartition("/v1beta/")[2], body)
        except Refusal as error:
            return _error(error.code, str(error))
        return _error(404, "Not here.")

    def _answer(self, body: Body) -> httpx2.Response:
        self.bodies.append(body)
        fault = self.faults.popleft() if self.faults else ""
        if fault == "refuse":
            self._refused |= self._issued
        if fault == "expire":
            self._caches.clear()
        self._check(body)
        if fault in ("400", "503"):
            raise Refusal(int(fault), "It is not a good day.")
        return httpx2.Response(200, stream=_Stream(self, fault, self._events(body, fault)))

    def _check(self, body: Body) -> None:
        """Raises Refusal as the real service would; what a client must never send is a violation too."""
        if (name := body.get("cachedContent")) and name not in self._caches:
            raise Refusal(403, "CachedContent not found (or permission denied)")
        contents = body["contents"]
        self._check_order(contents)
        bad = {value for content in contents for value in _signatures(content)} & self._refused
        if bad & self._told:
            self.violations.append("a signature was sent again after it had been refused")
        if bad:
            self._told |= bad
            raise Refusal(400, "Corrupted thought signature.")
        self._check_signatures(contents)

    def _check_order(self, contents: Sequence[Body]) -> None:
        for before, content in itertools.pairwise([{"role": "", "parts": []}, *contents]):
            asked, answered = _names(before, "functionCall"), _names(content, "functionResponse")
            if asked != answered:
                self._violate(f"calls {asked} are followed by responses {answered}")
        if contents[-1]["role"] != "user":
            self._violate("the last content is not the user's")

    def _check_signatures(self, contents: Sequence[Body]) -> None:
        start = max((at for at, content in enumerate(contents) if _is_user_text(content)), default=0)
        for content in contents[start:]:
            first = next((part for part in content["parts"] if "functionCall" in part), None)
            if first is not None and not first.get("thoughtSignature"):
                self._violate("a call of the current turn is unsigned")
        for value in (value for content in contents for value in _signatures(content)):
            if value not in self._issued | DUMMIES:
                self._violate("a signature that nobody gave")

    def _violate(self, what: str) -> None:
        self.violations.append(what)
        raise Refusal(400, what)

    def _events(self, body: Body, fault: str) -> list[Body]:
        token = body.get("continuationToken")
        if token is not None:
            if token not in self._tokens:
                self._violate("a continuation token that nobody gave")
            return self._texts(self._tokens.pop(token), fault)
        at, task, rounds, calls = _newest_task(body["contents"])
        done = sum(bool(_names(content, "functionResponse")) for content in body["contents"][at:])
        if done < rounds:
            return self._calls([f"{task}-{done}-{number}" for number in range(calls)], fault)
        return self._texts(f"This is the whole answer to {task}, and nothing is left of it.", fault)

    def _calls(self, titles: Sequence[str], fault: str) -> list[Body]:
        parts: list[Body] = [
            {"functionCall": {"name": "add_todo", "args": {"title": title}, "id": f"call-{title}"}}
            for title in titles
        ]
        parts[0]["thoughtSignature"] = self._signature()
        finish = "FUNCTION_CALL" if fault == "unknown" else "STOP"
        return [_event([{"text": "I need tools.", "thought": True}]), _event(parts, finish)]

    def _texts(self, text: str, fault: str) -> list[Body]:
        cut = len(text) // 2
        if fault == "continue":
            token = base64.urlsafe_b64encode(f"token {next(self._numbers)}".encode()).decode()
            self._tokens[token] = text[cut:]
            last = _event([{"text": text[:cut]}], "CONTINUATION")
            last["candidates"][0]["continuationToken"] = token
            return [last]
        self.said.append(text)
        tail = {"text": "", "thoughtSignature": self._signature()}
        last = _event([tail], "A_REASON_OF_NEXT_YEAR" if fault == "unknown" else "STOP")
        if fault == "unknown":
            last |= {"envelopeOfNextYear": {"a": 1}}
        return [_event([{"text": text[:cut]}]), _event([{"text": text[cut:]}]), last]

    def _signature(self) -> str:
        value = self._rng.randbytes(40)
        self._issued.add(value)
        return base64.b64encode(value).decode()

    def _cache(self, method: str, name: str, body: Body) -> httpx2.Response:
        if method == "POST":
            name = f"cachedContents/{next(self._numbers):040d}"
            self._caches[name] = body
            tokens = {"totalTokenCount": 5_000}
            expire = "2099-01-01T00:00:00Z"
            created = {"name": name, "model": body.get("model", ""), "usageMetadata": tokens}
            return httpx2.Response(200, json=created | {"expireTime": expire})
        if name not in self._caches:
            raise Refusal(403, "CachedContent not found (or permission denied)")
        if method == "DELETE":
            del self._caches[name]
            return httpx2.Response(200, json={})
        return httpx2.Response(200, json={"name": name, "expireTime": "2099-01-01T00:00:00Z"})


class _Stream(httpx2.AsyncByteStream):
    """Server-sent events, as far as the fault lets them come."""

    def __init__(self, provider: UnsteadyProvider, fault: str, events: Sequence[Body]) -> None:
        self._provider = provider
        self._fault = fault
        self._events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for number, event in enumerate(self._events):
            is_last = number == len(self._events) - 1
            if is_last and self._fault == "cut":
                raise httpx2.ReadError("")
            if is_last and self._fault == "hang":
                self._provider.hanging.set()
                await asyncio.Event().wait()
            if is_last and self._fault == "nofinish":
                return
            yield b"data: " + json.dumps(event).encode() + b"\r\n\r\n"
            await asyncio.sleep(0)


def _event(parts: Sequence[Body], finish: str = "") -> Body:
    candidate: Body = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 5_100, "candidatesTokenCount": 20, "totalTokenCount": 5_120}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-flash-preview"}


def _error(code: int, message: str) -> httpx2.Response:
    status = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}.get(code, "UNAVAILABLE")
    return httpx2.Response(code, json={"error": {"code": code, "message": message, "status": status}})


def _signatures(content: Mapping[str, Any]) -> list[bytes]:
    found = (part.get("thoughtSignature") for part in content["parts"])
    return [base64.b64decode(value.replace("-", "+").replace("_", "/") + "==") for value in found if value]


def _names(content: Mapping[str, Any], key: str) -> list[str]:
    """The ids of calls, or of responses."""
    return [part[key]["id"] for part in content["parts"] if key in part]


def _is_user_text(content: Mapping[str, Any]) -> bool:
    return content["role"] == "user" and any("functionResponse" not in part for part in content["parts"])


def _newest_task(contents: Sequence[Body]) -> tuple[int, str, int, int]:
    """Index of the content that holds it, its name, rounds and calls of a round."""
    for at in reversed(range(len(contents))):
        for part in contents[at]["parts"]:
            if contents[at]["role"] == "user" and (found := _TASK.search(part.get("text", ""))):
                return at, found[1], int(found[2]), int(found[3])
    raise Refusal(400, "There is no task.")
