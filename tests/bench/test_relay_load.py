from tests.bench.relay_load import LOADS, Figures, Load, LoadResult, StreamTimer, merged

MS = 1_000_000
"""Nanoseconds."""


RESULT = LoadResult(
    relays=[1.0, 2.0, 3.0, 40.0], firsts=[5.0, 9.0], cpu=0.002, rss=130_000_000, faults=["1 of 5 chunks lost"]
)


def figures(**some: float) -> Figures:
    return Figures(
        **{"cpu": 1, "relay50": 1, "relay99": 1, "first50": 1, "first99": 1, "rss": 1, "faults": 0, **some}
    )


def watched(*moments: tuple[int, int], chunks: int = 2) -> StreamTimer:
    """A stream that asked at 0 and read (stamp, now), in ms."""
    timer = StreamTimer(chunks)
    timer.ask(0)
    for stamp, now in moments:
        timer.read(stamp * MS, now * MS)
    return timer


def test_a_relay_is_from_the_stamp_and_the_first_chunk_from_the_question() -> None:
    timer = watched((10, 12), (30, 31))
    assert (timer.relays, timer.firsts) == ([2.0, 1.0], [12.0])


def test_the_text_of_a_closed_block_is_not_a_second_chunk() -> None:
    timer = watched((10, 12), (30, 31), (10, 40), (30, 40))
    timer.end()
    assert (timer.relays, timer.faults) == ([2.0, 1.0], [])


def test_lost_text_is_a_fault() -> None:
    timer = watched((10, 12))
    timer.end()
    assert timer.faults == ["1 of 2 chunks lost"]


def test_each_turn_counts_its_own_chunks() -> None:
    timer = watched((10, 12), (30, 31))
    timer.end()
    timer.ask(50 * MS)
    timer.read(60 * MS, 61 * MS)
    timer.end()
    assert (timer.firsts, timer.faults) == ([12.0, 11.0], ["1 of 2 chunks lost"])


def test_an_answer_that_failed_says_how() -> None:
    timer = watched()
    timer.end("refused")
    assert timer.faults == ["refused"]


def test_streams_are_merged_into_one_sample() -> None:
    sample = merged([watched((10, 12)), watched((10, 13))], cpu=1.5, rss=7)
    assert (sample.relays, sample.firsts, sample.cpu, sample.rss) == ([2.0, 3.0], [12.0, 13.0], 1.5, 7)


def test_starts_are_spread_over_a_second() -> None:
    load = Load(streams=4, pace=20, chunks=100, turns=2)
    assert [load.start_of(number) for number in range(4)] == [0, 0.25, 0.5, 0.75]
    assert load.seconds == 5.0


def test_a_load_survives_the_way_to_another_process() -> None:
    load = Load(1, 20, 10)
    assert LOADS.validate_json(LOADS.dump_json(load)) == load


def test_figures_are_per_thousand_chunks_and_in_megabytes() -> None:
    found = Figures.of(RESULT)
    assert found == figures(cpu=500, relay50=2, relay99=40, first50=5, first99=9, rss=130, faults=1)


def test_a_system_that_answered_nothing_does_not_look_fast() -> None:
    found = Figures.of(LoadResult([], [], cpu=0.0, rss=0, faults=["handshake refused"]))
    assert found.relay99 == found.first50 == float("inf")


def test_the_typical_figure_is_the_median_of_the_repeats() -> None:
    assert Figures.typical([figures(cpu=1), figures(cpu=9), figures(cpu=2)]).cpu == 2


def test_one_faulty_repeat_is_not_hidden_by_two_good_ones() -> None:
    assert Figures.typical([figures(), figures(faults=3), figures()]).faults == 3
