"""The background probe of a process: what /healthz and /readyz say without asking anybody."""

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from django.conf import settings
from django.db import DatabaseError, connection, connections

from sessions_app.database import close_unusable_connections
from sessions_app.models import DatabaseProbe
from sessions_app.models.run import LEASE
from sessions_app.runs.background import BackgroundTask
from sessions_app.storage_errors import is_full, is_read_only

PROBE_SECONDS = 5.0
"""Between two probes, and the longest that one may take."""

REPORT_LIMIT = 30.0
"""Seconds after which a report says nothing any more."""

POLL_LIMIT = 180.0
"""Seconds without a poll after which the process is taken for stuck. A locked database delays polls too."""

LEAST_FREE, LEAST_SHARE = 100_000_000, 0.05
"""Bytes, or the share of a smaller disk, below which it counts as full."""

REDIS_SECONDS = 1.0
"""A Redis that takes longer counts as unreachable."""

OK, FULL, READ_ONLY, SILENT = "ok", "full", "read-only", "no answer"


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """`redis` is empty where none is configured; `taken_at` is of the monotonic clock."""

    database: str
    disk: str
    redis: str
    taken_at: float

    @property
    def age(self) -> float:
        return monotonic() - self.taken_at


class HealthProbe:
    """One per process; probes every few seconds in a thread with its own database connection."""

    def __init__(self, *, poll_age: Callable[[], float], heartbeat_age: Callable[[], float]) -> None:
        self.poll_age = poll_age
        self.heartbeat_age = heartbeat_age
        self.report: ProbeReport | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-probe")
        self._probes = BackgroundTask("probe_ended", self._probe_forever)
        self.start = self._probes.start

    async def stop(self) -> None:
        await self._probes.stop()
        self._thread.submit(connections.close_all)
        self._thread.shutdown(wait=False)

    @property
    def is_alive(self) -> bool:
        """False when only a restart of the process helps."""
        return self.poll_age() < POLL_LIMIT

    @property
    def has_heartbeat(self) -> bool:
        return self.heartbeat_age() < LEASE.total_seconds()

    @property
    def is_ready(self) -> bool:
        """Whether the process can serve people now; false before the first report."""
        report = self.report
        is_writing = report is not None and report.age < REPORT_LIMIT and report.database == report.disk == OK
        return is_writing and self.has_heartbeat and self.is_alive

    async def _probe_forever(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            probing = loop.run_in_executor(self._thread, take_report)
            # A probe that hangs is not joined by a second one.
            while not (await asyncio.wait([probing], timeout=PROBE_SECONDS))[0]:
                self.report = ProbeReport(SILENT, disk_state(), "", monotonic())
            self.report = probing.result()
            await asyncio.sleep(PROBE_SECONDS)


def take_report() -> ProbeReport:
    """Blocks: writes a row, looks at the disks, asks Redis."""
    return ProbeReport(
        database=database_state(),
        disk=disk_state(),
        redis=redis_state() if settings.REDIS_URL else "",
        taken_at=monotonic(),
    )


def database_state() -> str:
    try:
        close_unusable_connections()
        DatabaseProbe.write()
    except DatabaseError as error:
        return FULL if is_full(error) else READ_ONLY if is_read_only(error) else SILENT
    return OK


def disk_state() -> str:
    """The state of the disks with the data, the workspaces and an SQLite database."""
    folders = {Path(settings.PIPEWEB_DATA), Path(settings.PIPEWEB_WORKSPACES)}
    if connection.vendor == "sqlite":
        folders.add(Path(settings.DATABASES["default"]["NAME"]).parent)
    return OK if all(has_room(folder) for folder in folders) else FULL


def has_room(folder: Path) -> bool:
    with suppress(OSError):
        usage = shutil.disk_usage(folder)
        return usage.free >= min(LEAST_FREE, LEAST_SHARE * usage.total)
    return True


def redis_state() -> str:
    # An optional dependency.
    from redis import Redis, RedisError

    limits = {"socket_connect_timeout": REDIS_SECONDS, "socket_timeout": REDIS_SECONDS}
    try:
        with Redis.from_url(settings.REDIS_URL, **limits) as client:
            return OK if client.ping() else SILENT
    except (RedisError, OSError):
        return SILENT
