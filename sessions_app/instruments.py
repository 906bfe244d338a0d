"""What an operator sees of a process: its figures, for Prometheus.

A leaf: it imports nothing of ours but the errors, so that every part may count here. Figures are of
this process alone; Prometheus scrapes each process and adds them up. No label ever holds content or
anything a person chose, so the number of series is fixed.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from sessions_app.errors import PipewebError

UNEXPECTED = "Unexpected"
"""The class of every error that is not one of ours: a defect, with a traceback in the log."""

ENDS = ("completed", "stopped", "failed", "interrupted")

REGISTRY = CollectorRegistry()
"""Not the library's global one, which describes the interpreter at length."""

ProcessCollector(registry=REGISTRY)

ACTIVE_RUNS = Gauge("pipeweb_active_runs", "Runs this process is working on.", registry=REGISTRY)

RUNS_ENDED = Counter("pipeweb_runs_ended", "Runs by how they ended.", ["status"], registry=REGISTRY)

SOCKETS = Gauge("pipeweb_sockets", "Chat sockets that are open.", registry=REGISTRY)

EVENTS = Counter("pipeweb_events", "Events written to the logs of runs.", registry=REGISTRY)

CHUNKS = Counter("pipeweb_chunks", "Chunks received from the provider.", registry=REGISTRY)

ERRORS = Counter("pipeweb_errors", "Runs that failed, by class of error.", ["kind"], registry=REGISTRY)

FLUSH_LAG = Gauge(
    "pipeweb_flush_lag_seconds",
    "How long the oldest event that is not yet in the database has waited.",
    registry=REGISTRY,
)

FIRST_CHUNK = Histogram(
    "pipeweb_first_chunk_seconds",
    "From sending a request to the first chunk of its answer.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64),
    registry=REGISTRY,
)


def count_error(error: BaseException) -> None:
    """Counts a failure under its class in the tree of errors."""
    ERRORS.labels(kind=type(error).__name__ if isinstance(error, PipewebError) else UNEXPECTED).inc()


def _kinds(root: type[PipewebError]) -> Iterator[str]:
    yield root.__name__
    for kind in root.__subclasses__():
        yield from _kinds(kind)


# A series that appears only with its first error hides that error from every rate over it.
for _kind in (*_kinds(PipewebError), UNEXPECTED):
    ERRORS.labels(kind=_kind)
for _status in ENDS:
    RUNS_ENDED.labels(status=_status)
