"""Prometheus metrics of this process.

Imports only `errors`, so that every package may use it. Labels have fixed values.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from sessions_app.errors import PipewebError

UNEXPECTED = "Unexpected"
"""Label of all exceptions that are not a PipewebError."""

FAILED = "failed"
RUN_STATUSES = ("completed", "stopped", FAILED, "interrupted")

REGISTRY = CollectorRegistry()
"""Without the interpreter metrics of the global registry."""

ProcessCollector(registry=REGISTRY)

ACTIVE_RUNS = Gauge("pipeweb_active_runs", "Runs this process is working on.", registry=REGISTRY)

RUNS_ENDED = Counter("pipeweb_runs_ended", "Runs by how they ended.", ["status"], registry=REGISTRY)

SOCKETS = Gauge("pipeweb_sockets", "Chat sockets that are open.", registry=REGISTRY)

EVENTS = Counter("pipeweb_events", "Events written to the logs of runs.", registry=REGISTRY)

CHUNKS = Counter("pipeweb_chunks", "Chunks received from the provider.", registry=REGISTRY)

ERRORS = Counter("pipeweb_errors", "Runs that failed, by class of error.", ["kind"], registry=REGISTRY)

CACHE_BYTES = Gauge(
    "pipeweb_memory_cache_bytes",
    "Bytes of immutable values that are kept in memory, by what they are.",
    ["values"],
    registry=REGISTRY,
)

FLUSH_LAG = Gauge(
    "pipeweb_flush_lag_seconds",
    "How long the oldest event that is not yet in the database has waited.",
    registry=REGISTRY,
)

HEARTBEAT_AGE = Gauge(
    "pipeweb_heartbeat_age_seconds",
    "Since the leases of the runs of this process were last renewed.",
    registry=REGISTRY,
)

FIRST_CHUNK = Histogram(
    "pipeweb_first_chunk_seconds",
    "From sending a request to the first chunk of its answer.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64),
    registry=REGISTRY,
)


def count_end(status: str, error: PipewebError | None = None) -> None:
    """Counts a run that has ended, with its last event; one that failed also by class of error.

    None stands for an error of no class of ours.
    """
    RUNS_ENDED.labels(status=status).inc()
    EVENTS.inc()
    if status == FAILED:
        ERRORS.labels(kind=type(error).__name__ if error else UNEXPECTED).inc()


def _kinds(root: type[PipewebError]) -> Iterator[str]:
    yield root.__name__
    for kind in root.__subclasses__():
        yield from _kinds(kind)


# Create all series now: rate() misses the first error of a series that appears with it.
for _kind in (*_kinds(PipewebError), UNEXPECTED):
    ERRORS.labels(kind=_kind)
for _status in RUN_STATUSES:
    RUNS_ENDED.labels(status=_status)
