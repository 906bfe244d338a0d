"""What a plain message and its answer cost: statements by table, and work handed to threads.

Each statement is a round trip on PostgreSQL, and most of the CPU of a turn.
"""

import re
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper

from sessions_app.database import THREADS
from sessions_app.models import Session, execution, prepared
from sessions_app.panels import rows
from sessions_app.runs.writer import Writer
from tests.conftest import ROOT
from tests.runs.conftest import Ask

START = """
SELECT session, SELECT run,
INSERT run, INSERT blob, INSERT turn, UPDATE session, UPDATE run
"""
"""The session with its owner, locked; what limits count; then a run and a trigger that name each other."""

PREPARE = """
SELECT exchange, SELECT turn, SELECT panels, SELECT prompttext,
UPDATE session, INSERT blob, INSERT source, INSERT exchange
"""
"""What a request is made of beside the session; then, with the run held, the exchange and its sources."""

RECORD = """
UPDATE run, SELECT session, INSERT blob, INSERT turn,
UPDATE session, UPDATE spending, INSERT booking, INSERT runlog, UPDATE exchange
"""
"""The end of the run, the answer with what its rows refer to, and what it cost."""

LOCKS = ["SELECT session", "SELECT session"] if connection.features.has_select_for_update else []
"""Its person and then itself, before they are read, where a statement may have to wait for a row."""

PIECES = [START, PREPARE, RECORD]
"""The first two are one piece of work. A further statement needs a reason, and a place here."""

EXPECTED = ", ".join(piece.strip() for piece in PIECES).replace(",\n", ", ").split(", ")

WRITTEN = {"INSERT rawchunk", "INSERT runlog", "INSERT exchangeattempt"}
"""By the writer, once for each flush of all runs."""

WRITER = "pipeweb-writer"
OURS = re.compile(r"sessions_app_(\w+)")


@dataclass
class Cost:
    """Statements of the thread of runs, of the writer, and pieces of work that threads were given.

    `flushes` are those that somebody waited for: with other runs beside it, each is a transaction.
    """

    statements: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    hops: Counter[str] = field(default_factory=Counter)
    flushes: int = 0

    def add(self, sql: str) -> None:
        """By the table that is named first."""
        table = OURS.search(sql)
        if table is None:
            return  # BEGIN, savepoints, and what Django asks a new connection
        verb = sql.split(maxsplit=1)[0].strip("(").replace("WITH", "SELECT")
        name = f"{verb} {'panels' if 'source_key' in sql else table[1]}"
        if threading.current_thread().name.startswith(WRITER):
            self.written.add(name)
        else:
            self.statements.append(name)


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Cost:
    cost = Cost()
    submit, flush = ThreadPoolExecutor.submit, Writer.flush

    async def waited_for(writer: Writer) -> None:
        cost.flushes += 1
        await flush(writer)

    def counted(run: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_run(by: Any, sql: str, *args: Any, **named: Any) -> Any:
            cost.add(sql)
            return run(by, sql, *args, **named)

        return count_and_run

    def handed_over(pool: ThreadPoolExecutor, *args: Any, **named: Any) -> Any:
        of_writer = getattr(pool, "_thread_name_prefix", "").startswith(WRITER)
        cost.hops["writer" if of_writer else "runs"] += 1
        return submit(pool, *args, **named)

    of_django: Any = CursorWrapper
    monkeypatch.setattr(CursorWrapper, "_execute_with_wrappers", counted(of_django._execute_with_wrappers))
    compiled = counted(execution.execute)
    for module in (prepared, rows, execution):
        monkeypatch.setattr(module, "execute", compiled)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", handed_over)
    monkeypatch.setattr(Writer, "flush", waited_for)
    return cost


async def test_a_plain_turn_costs_these_statements_two_hops_and_one_flush(
    session: Session, ask: Ask, cost: Cost
) -> None:
    """Explicit caches, tools, and what happens beside the answers cost more."""
    await Session.objects.filter(pk=session.pk).aupdate(settings={"cache_mode": "implicit"})
    for text in ("One", "Two"):
        await ask(text)
    cost.statements.clear()
    cost.hops.clear()
    cost.flushes = 0
    await ask("Three")
    # The last ones are the test's own, which reads the run.
    assert cost.statements[:-1] == LOCKS + EXPECTED
    assert cost.written == WRITTEN
    assert cost.hops["runs"] - 1 == 2
    assert cost.flushes == 1


def test_the_architecture_tells_these_figures() -> None:
    document = " ".join((ROOT / "sessions_app" / "README.md").read_text().split())
    assert f"{len(EXPECTED)} statements a turn in two pieces" in document
    assert f"PostgreSQL has {('no', 'one', 'two', 'three', 'four')[THREADS]} threads" in document
