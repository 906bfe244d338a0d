from sessions_app.bench.load import PLANS, Load, Plan, Seat, Watch, merged

MS = 1_000_000
"""Nanoseconds."""


def watched(*moments: tuple[int, int], chunks: int = 2) -> Watch:
    """A stream that asked at 0 and read (stamp, now), in ms."""
    watch = Watch(chunks)
    watch.ask(0)
    for stamp, now in moments:
        watch.read(stamp * MS, now * MS)
    return watch


def test_a_relay_is_from_the_stamp_and_the_first_chunk_from_the_question() -> None:
    watch = watched((10, 12), (30, 31))
    assert (watch.relays, watch.firsts) == ([2.0, 1.0], [12.0])


def test_the_text_of_a_closed_block_is_not_a_second_chunk() -> None:
    watch = watched((10, 12), (30, 31), (10, 40), (30, 40))
    watch.end()
    assert (watch.relays, watch.faults) == ([2.0, 1.0], [])


def test_lost_text_is_a_fault() -> None:
    watch = watched((10, 12))
    watch.end()
    assert watch.faults == ["1 of 2 chunks lost"]


def test_each_turn_counts_its_own_chunks() -> None:
    watch = watched((10, 12), (30, 31))
    watch.end()
    watch.ask(50 * MS)
    watch.read(60 * MS, 61 * MS)
    watch.end()
    assert (watch.firsts, watch.faults) == ([12.0, 11.0], ["1 of 2 chunks lost"])


def test_an_answer_that_failed_says_how() -> None:
    watch = watched()
    watch.end("refused")
    assert watch.faults == ["refused"]


def test_streams_are_merged_into_one_sample() -> None:
    sample = merged([watched((10, 12)), watched((10, 13))], cpu=1.5, rss=7)
    assert (sample.relays, sample.firsts, sample.cpu, sample.rss) == ([2.0, 3.0], [12.0, 13.0], 1.5, 7)


def test_starts_are_spread_over_a_second() -> None:
    load = Load(streams=4, pace=20, chunks=100, turns=2)
    assert [load.start_of(number) for number in range(4)] == [0, 0.25, 0.5, 0.75]
    assert load.seconds == 5.0


def test_a_plan_survives_the_way_to_another_process() -> None:
    plan = Plan(8000, 12, Load(1, 20, 10), [Seat("name=value", "public-id")])
    assert PLANS.validate_json(PLANS.dump_json(plan)) == plan
