"""Pipeweb on PostgreSQL and Redis, where both are installed: as one process and as two."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.base import Say
from tests.bench.hostile import new_database
from tests.bench.relay_pipeweb import Pipeweb, pipeweb
from tests.deployment import postgres
from tests.deployment.programs import found, redis

ONE_PROCESS, TWO_PROCESSES = "one on PostgreSQL", "two on PostgreSQL"
PROCESSES = {ONE_PROCESS: 1, TWO_PROCESSES: 2}


@contextmanager
def on_postgres(folder: Path, upstream: str, say: Say) -> Iterator[list[Pipeweb]]:
    """One process and two, each with a database of its own; nothing where a program is missing.

    The database of a server that is started here does not wait for the disk (fsync=off).
    """
    if not (postgres.is_possible() and found("redis-server")):
        say("  There is no PostgreSQL or no redis-server here: their figures are left out.")
        yield []
        return
    with ExitStack() as stack:
        notifier = redis(folder)
        notifier.start()
        stack.callback(notifier.stop)
        systems = []
        for number, (name, processes) in enumerate(PROCESSES.items()):
            place = folder / name.replace(" ", "-")
            place.mkdir()
            database = {
                "DATABASE_URL": stack.enter_context(new_database()),
                "REDIS_URL": f"redis://127.0.0.1:{notifier.port}/{number}",
            }
            system = pipeweb(place, upstream, name=name, processes=processes, database=database)
            systems.append(stack.enter_context(system))
        yield systems
