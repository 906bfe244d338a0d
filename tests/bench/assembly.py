"""`bench assembly`: what it costs to put a request together, by the length of the conversation.

`python -m tests.bench.assembly TURNS REQUESTS` measures one length in a database of its own: it builds
the conversation, prepares requests as a run does, and prints a JSON list of RequestTimes.
"""

import sys
import uuid
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from tests.bench.base import Aim, Bench, Say, percentile, ratio
from tests.bench.processes import START_LIMIT, empty_database, run_module, set_up_django

if TYPE_CHECKING:
    from sessions_app.models import Exchange, Session

SIZES = (10, 100, 1_000)
REQUESTS = 30
QUESTION, ANSWER, SIGNATURE = 600, 800, 2_000
"""Bytes of a turn."""

SECONDS_A_TURN = 0.2
"""Far more than building and preparing takes; beyond it the child counts as stuck."""

AIM = 15.0
"""Milliseconds that assembling may take: after a detach at any length, and of CPU turn by turn."""

CHUNK_AIM = 10.0
"""Milliseconds of CPU that freezing one chunk may take, in the request that freezes many."""

INLINE, DETACHED, CACHED = "turn by turn", "detached", "detached, cached"
FOREIGN = "of another route"
"""Turn by turn, with signatures that are not sent."""


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """One way to send a conversation of one length.

    `ms` per request and `first_ms` for the one that detached, `cpu` and `first_cpu` the same as time of
    the processor, which neighbours hardly lengthen; `stored` and `body` are bytes a request.
    """

    way: str
    turns: int
    ms: Sequence[float]
    first_ms: float
    stages: Mapping[str, float]
    stored: float
    body: int
    chunks: int
    cpu: Sequence[float]
    first_cpu: float

    @property
    def chunk_cpu(self) -> float:
        """What a frozen chunk added to the request that froze it."""
        return (self.first_cpu - median(self.cpu)) / self.chunks if self.chunks else 0.0

    def line(self, base: "RequestTimes") -> str:
        typical = median(self.ms)
        return (
            f"{self.turns:>7}  {self.way:<18}{typical:>8.1f}{percentile(self.ms, 90):>8.1f}"
            f"{median(self.cpu):>8.1f}"
            f"{ratio(typical, median(base.ms)):>8.2f}{self.first_ms:>9.1f}{self.chunks:>8}"
            f"{self.body / 1000:>10.0f}{ratio(self.body, base.body):>8.2f}{self.stored / 1000:>10.1f}"
        )

    def slowest(self, count: int = 4) -> str:
        stages = sorted(self.stages.items(), key=lambda stage: -stage[1])[:count]
        named = ", ".join(f"{name} {ms:.1f}" for name, ms in stages)
        return f"{'':>9}{named}; recording {median(self.ms) - sum(self.stages.values()):.1f}"


ROWS = TypeAdapter(list[RequestTimes])
HEADING = (
    f"{'turns':>7}  {'':<18}{'p50':>8}{'p90':>8}{'CPU':>8}{'×':>8}{'first':>9}{'chunks':>8}"
    f"{'body KB':>10}{'×':>8}{'stored KB':>10}"
)


def assemble(turns: int, requests: int) -> list[RequestTimes]:
    """All ways for one length, in a database of its own. Raises PipewebError."""
    limit = START_LIMIT + SECONDS_A_TURN * (turns + 10 * requests)
    with empty_database() as folder:
        printed = run_module("assembly", str(turns), str(requests), limit=limit, PIPEWEB_DATA=folder)
        return ROWS.validate_json(printed)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--turns", type=int, nargs="+", default=SIZES, help="lengths (default: %(default)s)")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each (default: %(default)s)")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    say("ms to prepare a request; × is against everything sent turn by turn; stored: the database's growth")
    say(HEADING)
    measured: list[RequestTimes] = []
    for turns in given["turns"]:
        rows = assemble(turns, given["requests"])
        for row in rows:
            say(row.line(rows[0]))
            say(row.slowest())
        measured += rows
    return aims(measured)


def aims(measured: Sequence[RequestTimes]) -> list[Aim]:
    detached = [row for row in measured if row.way in (DETACHED, CACHED)]
    worst = max(detached, key=lambda row: median(row.ms))
    longest = max((row for row in measured if row not in detached), key=lambda row: median(row.cpu))
    return [
        Aim(f"{longest.way}, ms of CPU ({longest.turns} turns)", AIM, median(longest.cpu)),
        Aim(f"after a detach, ms ({worst.turns} turns, {worst.way})", AIM, median(worst.ms)),
        Aim("freezing a chunk, ms of CPU", CHUNK_AIM, max(row.chunk_cpu for row in detached)),
    ]


def measure(way: str, turns: int, requests: int) -> RequestTimes:
    """Prepares one request that may detach, then `requests` for new messages below the same history."""
    from django.contrib.auth.models import User

    from sessions_app.models import HistoryChunk
    from tests.bench import conversations

    policy = "seed" if way in (DETACHED, CACHED) else "adaptive"
    route = conversations.endpoint().route if way == FOREIGN else conversations.own_route()
    owner = User.objects.create_user(uuid.uuid4().hex)
    session = conversations.new_session(owner, cache_policy=policy, panels={})
    conversations.add_turns(
        session, turns, question=QUESTION, answer=ANSWER, signature=SIGNATURE, route=route
    )

    first, first_cpu = prepare_below(session)
    if way == CACHED:
        conversations.cache_static_layer(first)
    before = database_size()
    prepared = [prepare_below(session) for _ in range(requests)]
    exchanges = [exchange for exchange, _ in prepared]
    return RequestTimes(
        way,
        turns,
        ms=[exchange.build_ms for exchange in exchanges],
        first_ms=first.build_ms,
        stages=stage_times(exchanges),
        stored=(database_size() - before) / requests,
        body=exchanges[-1].request_size,
        chunks=HistoryChunk.objects.filter(session=session).count(),
        cpu=[cpu for _, cpu in prepared],
        first_cpu=first_cpu,
    )


def prepare_below(session: "Session") -> tuple["Exchange", float]:
    """A request for a new message, and its ms of CPU; the session's head is put back after it."""
    from sessions_app.models import Run, Session
    from tests.bench import conversations

    head = Session.objects.get(pk=session.pk).head
    run, draft, cpu = conversations.prepare_request(session, conversations.text(QUESTION))
    run.end(Run.Status.COMPLETED)
    run.session.advance(head)
    return draft.exchange, cpu


def stage_times(exchanges: Sequence["Exchange"]) -> dict[str, float]:
    """The median ms of each stage of the pipeline, by its name."""
    names = [stage["name"] for stage in exchanges[0].stages]
    return {
        name: median(next(stage["ms"] for stage in one.stages if stage["name"] == name) for one in exchanges)
        for name in names
    }


def database_size() -> int:
    """Bytes of the database that are in use, indexes included."""
    from django.db import connection

    with connection.cursor() as cursor:
        pragmas = [f"PRAGMA {name}" for name in ("page_count", "freelist_count", "page_size")]
        pages, free, size = (cursor.execute(pragma).fetchone()[0] for pragma in pragmas)
    return int((pages - free) * size)


def main(turns: str, requests: str) -> None:
    set_up_django()
    rows = [measure(way, int(turns), int(requests)) for way in (INLINE, FOREIGN, DETACHED, CACHED)]
    sys.stdout.buffer.write(ROWS.dump_json(rows))


BENCH = Bench(
    "assembly", "putting a request together: how it grows with the conversation", add_arguments, run
)

if __name__ == "__main__":
    main(*sys.argv[1:])
