"""A session and what its owner does, in front of any provider that plays tasks."""

import itertools
import uuid
from collections import Counter
from random import Random

import httpx2
from django.contrib.auth.models import User

from sessions_app.models import QueuedMessage, Run, Session, Todo, Turn
from sessions_app.prompt.turns import TurnKind
from tests.runs.mortal_process import MortalProcess

STATIC = "You keep lists for people, and you keep them well. " * 500
"""Large enough for an explicit cache."""


class SessionOwner:
    """Sends messages like `task=t1 rounds=2 calls=3`, and goes on with what brought no answer."""

    def __init__(self, rng: Random, owner: User, provider: httpx2.AsyncBaseTransport) -> None:
        self.rng = rng
        settings = {"cache_policy": rng.choice(["adaptive", "seed"])}
        self.session = Session.objects.create(
            owner=owner, model="gemini-3-flash-preview", background=STATIC, settings=settings
        )
        self.process = MortalProcess(provider)
        self.sent: list[str] = []
        self.from_start: Counter[str] = Counter()
        self._tasks = itertools.count(1)

    def arrange_faults(self) -> None:
        """What befalls the next requests; nothing but what the provider does of its own accord."""

    def send(self, rounds: int, calls: int, *, wait: bool = True) -> str:
        task = f"t{next(self._tasks)}"
        text = f"task={task} rounds={rounds} calls={calls}"
        self.sent.append(text)
        self.process.call(self.process.runner.send(self.session.pk, uuid.uuid4(), text))
        if wait:
            self.process.drain()
        return task

    def go_on(self) -> None:
        """What the person presses after a run that brought no answer, if anything."""
        self.arrange_faults()
        self.session.refresh_from_db()
        run, head = self.session.runs.order_by("-pk").first(), self.session.head
        if run is None or head is None or run.status == Run.Status.COMPLETED:
            return
        runner, client_id = self.process.runner, uuid.uuid4()
        if head.kind == TurnKind.TOOL_RESPONSE and self.rng.random() < 0.7:
            repeats = self.rng.random() < 0.5
            work = runner.resume(self.session.pk, client_id, run.public, head.public, repeats=repeats)
        elif self.rng.random() < 0.5:
            self.count_from_start(run)
            work = runner.retry(self.session.pk, client_id, run.public)
        else:
            return
        self.process.call(work)
        self.process.drain()

    def count_from_start(self, run: Run) -> None:
        if run.task is not None:
            self.from_start[run.task.text.split()[0].removeprefix("task=")] += 1

    def check_messages(self) -> None:
        self.session.refresh_from_db()
        assert not QueuedMessage.objects.filter(session=self.session).exists()
        branch = Turn.objects.branch(self.session.head_id)
        texts = [turn.text for turn in branch if turn.kind == TurnKind.USER_TASK]
        assert Counter(texts) == Counter(self.sent)

    def check_tools(self) -> None:
        """Every todo was added once, and again only where the person began from the start."""
        added = Counter(Todo.objects.filter(session=self.session).values_list("title", flat=True))
        for title, times in added.items():
            assert times <= 1 + self.from_start[title.split("-")[0]], title
