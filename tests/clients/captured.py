"""Real clients in front of the relay of a real server, with a tap on either side of it."""

import subprocess
import sys
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson

from sessions_app.prompt.verdict import VerdictReason
from tests.clients.tap import HttpExchange, Tap
from tests.conftest import ROOT
from tests.server import Server, environment, manage

WAIT = 60.0
"""Seconds until the last request of a program is in the database."""

CHANGED = {VerdictReason.PART_OF_PREFIX, VerdictReason.LAYER_CHANGED, VerdictReason.HISTORY_REWRITTEN}
"""Why fewer tokens were cached, or none: the request itself."""

Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """A request as the server recorded it. `broken` is the source of the item in which it leaves `before`."""

    key: str
    method: str
    path: str
    status: int | None
    fault: str
    is_cut: bool
    has_ended: bool
    name: str
    client: str
    session: str
    lane: str
    relation: str
    role: str
    before: str
    is_guess: bool
    prompt_tokens: int | None
    cached_tokens: int | None
    calls: list[list[str]]
    broken: str
    verdict: str
    body: bytes
    answer: bytes

    @property
    def exchange(self) -> HttpExchange:
        return HttpExchange(self.method, self.path, self.body, self.status or 0, self.answer)

    @property
    def is_streamed(self) -> bool:
        return ":stream" in self.path


def captured_calls(server: Server, address: str) -> list[CapturedCall]:
    """The requests that came under the address with this name, in their order."""
    command = [sys.executable, "-m", "tests.clients.captured_rows", address]
    variables = environment(server.folder, **server.variables)
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False, timeout=WAIT)
    assert not done.returncode, done.stderr.decode()
    return [_call(told) for told in orjson.loads(done.stdout)]


def assert_explained(server: Server, calls: Sequence[CapturedCall], culprits: Mapping[int, str]) -> None:
    """Each request begins with all that the one before it said, but those whose culprit is named: by their
    number, from 0 on. The verdict says so too, and the auditor comes to the same.
    """
    broken = {number: call.broken for number, call in enumerate(calls) if call.broken}
    assert broken == culprits, broken
    wrong = [(number, call.verdict) for number, call in enumerate(calls) if not _is_right(call)]
    assert not wrong, wrong
    audit = manage(server.folder, "audit", "--all", **server.variables)
    assert not audit.returncode, audit.stdout + audit.stderr


def _is_right(call: CapturedCall) -> bool:
    """Whether the verdict goes with what is said to have changed; a short prompt is never cached."""
    if call.broken == "tools":
        return call.verdict == VerdictReason.OTHER_TOOLS
    return call.verdict == VerdictReason.TOO_SHORT or (call.verdict in CHANGED) == bool(call.broken)


@dataclass(frozen=True)
class Talk(Generic[Told]):
    """What a client did under one address: what it told itself, the traffic on both sides, and the rows."""

    told: Told
    front: Counter[HttpExchange]
    behind: Counter[HttpExchange]
    calls: list[CapturedCall]

    @property
    def asked(self) -> list[CapturedCall]:
        """Those that asked a model."""
        return [call for call in self.calls if call.session]

    @property
    def sessions(self) -> list[list[CapturedCall]]:
        """In the order in which they began."""
        found: dict[str, list[CapturedCall]] = {}
        for call in self.asked:
            found.setdefault(call.session, []).append(call)
        return list(found.values())

    def assert_bytes_are_equal(self) -> None:
        """What the client sent and got is what the provider got and sent, and what is stored."""
        assert self.front and self.front == self.behind
        stored = Counter(call.exchange for call in self.calls)
        assert stored == Counter(_without_secrets(one) for one in self.front.elements())
        assert all(call.has_ended and not call.fault and not call.is_cut for call in self.calls)


class RelayedServer:
    """A server whose provider is behind a tap, as it is itself."""

    def __init__(self, server: Server, front: Tap, behind: Tap) -> None:
        self.server = server
        self._front, self._behind = front, behind
        self._bases: dict[str, str] = {}
        """The addresses by their names."""

    def talk(self, name: str, act: Callable[[str], Told]) -> Talk[Told]:
        """Has a client act under the address with this name, which is made where there is none."""
        if name not in self._bases:
            self._bases[name] = self._made(name)
        base = self._bases[name]
        path = base.removeprefix(self._front.url)
        at_front, behind = self._at_front(path), self._behind.exchanges()
        told = act(base)
        front = self._at_front(path) - at_front
        calls = self._ended(name, at_front.total() + front.total())
        return Talk(told, front, self._behind.exchanges() - behind, calls[at_front.total() :])

    def _made(self, name: str) -> str:
        said = manage(self.server.folder, "capture", "--name", name, "--port", str(self._front.port))
        assert said.stdout.startswith("http://"), said.stderr
        return said.stdout.strip()

    def _at_front(self, path: str) -> Counter[HttpExchange]:
        found = self._front.exchanges().elements()
        return Counter(
            one._replace(target=one.target.removeprefix(path)) for one in found if one.target.startswith(path)
        )

    def _ended(self, name: str, count: int) -> list[CapturedCall]:
        """The rows, once all of them have ended."""
        until = time.monotonic() + WAIT
        while True:
            calls = captured_calls(self.server, name)
            if sum(call.has_ended for call in calls) >= count or time.monotonic() > until:
                return calls
            time.sleep(0.2)


def places(calls: Sequence[CapturedCall]) -> list[tuple[str, str, int]]:
    """Role, relation and lane of each, lanes by numbers in their order."""
    lanes = list(dict.fromkeys(call.lane for call in calls))
    return [(call.role, call.relation, lanes.index(call.lane)) for call in calls]


def _call(told: dict[str, Any]) -> CapturedCall:
    bodies = {what: b64decode(told[what]) for what in ("body", "answer")}
    return CapturedCall(**{**told, **bodies})


def _without_secrets(one: HttpExchange) -> HttpExchange:
    from sessions_app.capture.paths import without_secrets

    path, _, query = one.target.partition("?")
    return one._replace(target=path + (f"?{without_secrets(query)}" if query else ""))
