"""The law of faults: whatever happens, a session answers, no tool runs twice, and no message is lost.

A history is made from its seed: messages with rounds of tools, beside refused signatures, expired caches, cut
streams, unknown reasons, continuations, errors, stops, and kills in mid-answer and inside a tool; after each
the person goes on in one of the ways that the page offers. Run one with `-k 'history and 17'`.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from sessions_app.audit.audit import audit_session
from sessions_app.models import Run
from sessions_app.panels import TOOLBOX
from sessions_app.tools import Toolbox, ToolResult
from tests.runs.mortal_process import PATIENCE, MortalProcess
from tests.runs.running import end_abandoned_runs
from tests.runs.session_owner import SessionOwner
from tests.runs.unsteady_provider import FAULTS, UnsteadyProvider

HISTORIES = 200
QUICK = 12
"""Histories of the fast tier."""

ORDINARY = [fault for fault in FAULTS if fault != "hang"]
HARMLESS = ["", "refuse", "expire", "unknown", "continue"]
"""Faults that no person should notice; a hop cannot change its request, so `BETWEEN_HOPS` end it."""

BETWEEN_HOPS = {"refuse", "expire"}


class WaitingToolbox(Toolbox):
    """A tool whose call is named in `held` never returns, and sets `holding`."""

    def __init__(self) -> None:
        super().__init__(TOOLBOX)
        self.held: set[str] = set()
        self.holding = threading.Event()

    def served_by(self, *, emulator: bool) -> "WaitingToolbox":
        return self

    async def run(self, name: str, args: Any, *rest: Any, **options: Any) -> ToolResult:
        if args.get("title") in self.held:
            self.held.clear()
            self.holding.set()
            await asyncio.Event().wait()
        return await super().run(name, args, *rest, **options)


class Person(SessionOwner):
    """One session and what its owner does."""

    def __init__(self, seed: int, owner: User, toolbox: WaitingToolbox) -> None:
        rng = Random(seed)
        self.provider = UnsteadyProvider(rng)
        super().__init__(rng, owner, self.provider)
        self.toolbox = toolbox
        self.faults = ORDINARY

    def live(self) -> None:
        for _ in range(self.rng.randint(2, 4)):
            self.message()
            for _ in range(self.rng.randint(0, 2)):
                self.go_on()
        self.provider.faults.clear()
        self.toolbox.held.clear()
        self.send(rounds=1, calls=2)
        self.process.drain()

    def message(self) -> None:
        """A message with its faults; perhaps a second one at once, a stop or a kill."""
        rounds, calls = self.rng.randint(0, 2), self.rng.randint(1, 3)
        self.arrange_faults()
        task = self.send(rounds, calls, wait=False)
        if self.rng.random() < 0.2:
            self.send(0, 1, wait=False)
        self.interrupt(task, rounds, calls)

    def arrange_faults(self) -> None:
        self.provider.faults.clear()
        self.provider.faults += self.rng.choices(self.faults, k=self.rng.randint(0, 4))

    def interrupt(self, task: str, rounds: int, calls: int) -> None:
        """Waits for the end of the run, or stops it, or kills its process, in mid-answer or in a tool."""
        way = self.rng.choice(["wait", "wait", "stop", "kill"])
        inside = self.rng.random() < 0.5 and rounds > 0
        if way == "wait":
            self.process.drain()
            return
        signal = self.toolbox.holding if inside else self.provider.hanging
        signal.clear()
        if inside:
            self.toolbox.held = {f"{task}-0-{self.rng.randrange(calls)}"}
        else:
            self.provider.faults.append("hang")
        self.await_signal(signal)
        if way == "stop":
            self.stop()
        else:
            self.die()
        self.toolbox.held.clear()
        self.provider.faults.clear()

    def await_signal(self, signal: threading.Event) -> None:
        """Until the signal, or the end of all runs: a fault before it may have ended them."""
        for _ in range(int(PATIENCE / 0.01)):
            if signal.wait(0.01) or not self.process.runner.live_runs:
                return
        raise AssertionError("neither the signal nor an end")

    def stop(self) -> None:
        for live in list(self.process.runner.live_runs.values()):
            self.process.call(self.process.runner.stop(self.session.pk, live.public))
        self.process.drain()

    def die(self) -> None:
        """A new process ends what the dead one left."""
        self.process.kill()
        self.process = MortalProcess(self.provider)
        end_abandoned_runs(self.process.runner.process_lock)

    def chat(self) -> None:
        """Messages beside harmless faults only; every one is answered by itself."""
        self.faults = HARMLESS
        for _ in range(4):
            self.arrange_faults()
            self.provider.faults = deque(spared(self.provider.faults))
            self.send(self.rng.randint(0, 2), self.rng.randint(1, 3))
        ended = self.session.runs.values_list("status", flat=True)
        assert set(ended) == {Run.Status.COMPLETED} and len(ended) == len(self.sent)

    def check(self) -> None:
        assert not list(audit_session(self.session.pk, "audited"))
        assert not self.provider.violations
        newest = self.session.runs.order_by("-pk").first()
        assert newest is not None and newest.status == Run.Status.COMPLETED, newest and newest.error
        self.check_messages()
        self.check_tools()
        self.check_sent()

    def check_sent(self) -> None:
        """Nothing was invented on the way: every text that was sent as the model's is a turn's."""
        stored = set(self.session.turns.values_list("text", flat=True))
        for body in self.provider.bodies:
            for content in body["contents"]:
                assert content["role"] == "user" or model_text(content) in stored


def spared(faults: Iterable[str]) -> Iterator[str]:
    """The faults without those that would befall a hop."""
    before = ""
    for fault in faults:
        before = "" if before == "continue" and fault in BETWEEN_HOPS else fault
        yield before


def model_text(content: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in content["parts"] if not part.get("thought"))


@pytest.fixture
def toolbox(monkeypatch: pytest.MonkeyPatch) -> WaitingToolbox:
    toolbox = WaitingToolbox()
    monkeypatch.setattr("pipeweb.composition.TOOLBOX", toolbox)
    return toolbox


@pytest.fixture
def people(transactional_db: None, alice: User, toolbox: WaitingToolbox) -> Iterator[list[Person]]:
    """Whoever lives in the test; their processes end with it."""
    living: list[Person] = []
    yield living
    for person in living:
        person.process.end()


@pytest.mark.parametrize("seed", range(QUICK))
def test_harmless_faults_end_no_run(
    seed: int, alice: User, toolbox: WaitingToolbox, people: list[Person]
) -> None:
    people.append(Person(seed, alice, toolbox))
    people[-1].chat()
    people[-1].check()


def live_and_check(seed: int, owner: User, toolbox: WaitingToolbox, people: list[Person]) -> None:
    print(f"history {seed} on {connection.vendor}")
    people.append(Person(seed, owner, toolbox))
    people[-1].live()
    people[-1].check()


@pytest.mark.parametrize("seed", range(QUICK))
def test_history(seed: int, alice: User, toolbox: WaitingToolbox, people: list[Person]) -> None:
    live_and_check(seed, alice, toolbox, people)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, HISTORIES))
def test_more_of_history(seed: int, alice: User, toolbox: WaitingToolbox, people: list[Person]) -> None:
    live_and_check(seed, alice, toolbox, people)
