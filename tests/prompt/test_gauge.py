"""The gauge of a request, against sums that are written out here."""

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.gauge import Gauge, GaugeItem

ITEMS = tuple(
    GaugeItem(source, layer, tokens)
    for source, layer, tokens in (
        ("tools", "static", 1),
        ("chunk:7", "static", 10),
        ("chunk:9", "static", 100),
        ("template:static", "static", 1_000),
        ("panel:file_references/a.py", "dynamic", 10_000),
        ("panel:todos", "dynamic", 100_000),
        ("panel:file_references/b.py", "dynamic", 1_000_000),
        ("clock", "dynamic", 10_000_000),
        ("turn:t", "trigger", 100_000_000),
    )
)
GAUGE = Gauge(ITEMS, prompt=200, cached=50, window=1_000)


def test_what_leaves_is_not_sent_again_and_all_behind_it_is() -> None:
    assert GAUGE.behind({"chunk:7"}) == 111_111_100
    assert GAUGE.behind(GAUGE.of_panel("file_references")) == 110_100_000
    assert GAUGE.behind({"panel:file_references/b.py"}) == 110_000_000


def test_what_changes_is_sent_again_itself() -> None:
    assert GAUGE.behind([], {"panel:todos"}) == 111_100_000
    assert GAUGE.behind({"panel:file_references/b.py"}, {"panel:todos"}) == 110_100_000


def test_a_panel_that_comes_stands_behind_the_others() -> None:
    assert GAUGE.behind_panels() == 110_000_000
    without = Gauge(tuple(item for item in ITEMS if not item.source.startswith("panel:")))
    assert without.behind_panels() == 110_000_000


def test_what_is_not_there_costs_nothing() -> None:
    assert (GAUGE.behind({"panel:git_log"}), GAUGE.tokens_of({"panel:git_log"})) == (0, 0)
    assert Gauge().behind_panels() == 0


def test_the_model_reads_layers_panels_parts_and_the_providers_counts() -> None:
    told = GAUGE.as_sent()
    assert told["layer_tokens"] == {
        "static": 1_111, "dynamic": 11_110_000, "buffered": 0, "trigger": 100_000_000
    }  # fmt: skip
    assert told["panels"]["todos"] == {"tokens": 100_000, "resent_if_changed": 111_100_000}
    assert told["history_parts"][1] == {"part": 2, "tokens": 100, "resent_if_dropped": 111_111_000}
    assert (told["cached_percent"], told["window_left"]) == (25, 800)


def test_the_model_reads_that_all_was_cached_only_where_it_was() -> None:
    assert Gauge(ITEMS, prompt=200, cached=199).as_sent()["cached_percent"] == 99


def test_without_counts_of_the_provider_neither_share_nor_window_is_told() -> None:
    assert not {"cached_percent", "window_left"} & Gauge(ITEMS, window=1_000).as_sent().keys()


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 99))), st.sets(st.integers(0, 6)))
def test_what_is_sent_again_is_the_rest_of_the_list(pairs: list[tuple[int, int]], gone: set[int]) -> None:
    gauge = Gauge(tuple(GaugeItem(f"panel:{name}", "dynamic", tokens) for name, tokens in pairs))
    sources = {f"panel:{name}" for name in gone}
    rest = list(pairs)
    while rest and rest[0][0] not in gone:
        rest.pop(0)
    assert gauge.behind(sources) == sum(tokens for name, tokens in rest if name not in gone)
