"""The figures exist before anything happens, and their number is fixed."""

import pytest
from prometheus_client import generate_latest

from sessions_app.errors import CacheGone, PipewebError, QuotaExceeded, RunEnded
from sessions_app.metrics import FLUSH_LAG, REGISTRY, UNEXPECTED, count_end

SERIES = [
    "pipeweb_active_runs",
    "pipeweb_sockets",
    "pipeweb_events_total",
    "pipeweb_chunks_total",
    "pipeweb_flush_lag_seconds",
    'pipeweb_memory_cache_bytes{values="contents"}',
    'pipeweb_errors_total{kind="QuotaExceeded"}',
    'pipeweb_runs_ended_total{status="interrupted"}',
    'pipeweb_first_chunk_seconds_bucket{le="+Inf"}',
    "process_resident_memory_bytes",
]


@pytest.mark.parametrize("series", SERIES)
def test_every_series_is_there_before_its_first_event(series: str) -> None:
    assert f"\n{series} " in generate_latest(REGISTRY).decode()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (QuotaExceeded("no"), "QuotaExceeded"),
        (CacheGone("no"), "CacheGone"),
        (PipewebError("no"), "PipewebError"),
        (None, UNEXPECTED),
    ],
)
def test_a_failure_counts_under_its_class(error: PipewebError | None, kind: str) -> None:
    before = counted(kind)
    count_end("failed", error)
    assert counted(kind) == before + 1


def test_only_a_failure_counts_as_an_error() -> None:
    before = counted("RunEnded")
    count_end("interrupted", RunEnded())
    assert counted("RunEnded") == before


def test_the_lag_is_read_when_it_is_asked_for() -> None:
    FLUSH_LAG.set_function(lambda: 0.25)
    try:
        assert "pipeweb_flush_lag_seconds 0.25" in generate_latest(REGISTRY).decode()
    finally:
        FLUSH_LAG.set_function(lambda: 0.0)


def counted(kind: str) -> float:
    value = REGISTRY.get_sample_value("pipeweb_errors_total", {"kind": kind})
    assert value is not None
    return value
