"""`bench soak`: what counts as growth."""

import os
from dataclasses import replace

import pytest

from sessions_app.errors import PipewebError
from tests.bench.soak import Sample, aims, sample


def samples(*, memory: int = 100, files: int = 40, sockets: int = 9, failed: int = 0) -> list[Sample]:
    """Four settled samples; the last two hold this."""
    settled = [Sample(turns, 100, 40, 9) for turns in (200, 300)]
    return [*settled, *(Sample(turns, memory, files, sockets, failed) for turns in (400, 500))]


def missed(found: list[Sample]) -> list[str]:
    return [aim.name.split()[0] for aim in aims(found) if aim.is_missed]


def test_a_server_that_stays_as_it_is_misses_nothing() -> None:
    assert missed(samples(memory=104)) == []


@pytest.mark.parametrize("memory", [106, 94])
def test_memory_may_move_by_five_percent(memory: int) -> None:
    assert missed(samples(memory=memory)) == ["memory"]


def test_what_caches_keep_may_grow() -> None:
    full = [replace(one, memory=one.memory + 40, kept=40) for one in samples()[2:]]
    assert missed([*samples()[:2], *full]) == []


def test_files_sockets_and_failed_turns_may_not_grow() -> None:
    assert missed(samples(files=43)) == ["files"]
    assert missed(samples(sockets=10)) == ["sockets"]
    assert missed(samples(failed=1)) == ["turns"]


def test_what_happened_before_it_settled_does_not_count() -> None:
    assert missed([Sample(100, 50, 10, 1), *samples()]) == []


def test_too_few_turns_show_nothing() -> None:
    with pytest.raises(PipewebError):
        aims(samples()[:1])


def test_a_sample_counts_what_the_process_holds() -> None:
    before = sample(os.getpid(), 1)
    read, write = os.pipe()
    try:
        assert sample(os.getpid(), 1).files == before.files + 2
    finally:
        os.close(read)
        os.close(write)
    assert before.memory > 10_000_000
