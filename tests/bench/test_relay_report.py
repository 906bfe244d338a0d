from tests.bench.relay_capacity import Capacity
from tests.bench.relay_load import Figures
from tests.bench.relay_memory import Memory
from tests.bench.relay_report import AIMED, FORTY, LONG, ONE, SHORT, Measurement, RelayReport, Split
from tests.bench.test_relay_load import figures


def report(**changes: float) -> RelayReport:
    """Chunks at 1.2 times and turns at five times the bare relay's, the SDK's transport at half."""
    rows = [
        Measurement("bare Daphne", LONG, costing(chunk=100, turn=2, chunks=250)),
        Measurement("Pipeweb", LONG, costing(chunk=120, turn=10, chunks=250)),
        Measurement("bare Daphne", SHORT, costing(chunk=100, turn=2, chunks=10)),
        Measurement("Pipeweb", SHORT, costing(chunk=120, turn=10, chunks=10)),
        Measurement("SDK transport", AIMED, figures(cpu=100)),
        Measurement("Pipeweb", AIMED, figures(**{"cpu": 200, "first50": 19, "first99": 59} | changes)),
        Measurement("Pipeweb", ONE, figures(first50=8)),
        Measurement("Pipeweb", FORTY, figures(cpu=100)),
        Measurement("two on PostgreSQL", FORTY, figures(cpu=131)),
    ]
    return RelayReport(rows, [Capacity("Pipeweb", 20, 80), Capacity("Pipeweb", 100, 179)], Memory(145, 191))


def costing(chunk: float, turn: float, chunks: int) -> Figures:
    """Of a system whose 1,000 chunks cost `chunk` ms, and a turn without them `turn` ms."""
    return figures(cpu=chunk + turn * 1000 / chunks)


def verdicts(of: RelayReport) -> list[str]:
    return [aim.verdict for aim in of.aims()]


def test_chunk_and_turn_are_told_apart() -> None:
    split = Split.of("a", costing(100, 7, LONG.chunks), costing(100, 7, SHORT.chunks))
    assert (round(split.chunk, 6), round(split.turn, 6)) == (100, 7)
    assert [one.system for one in report().splits] == ["bare Daphne", "Pipeweb"]


def test_every_aim_is_judged_by_its_own_figure() -> None:
    found = verdicts(report())
    assert found[:6] == ["met"] * 6
    assert found[6:9] == ["not measured", "not measured", "NOT MET"]
    assert found[9:] == ["met", "NOT MET", "met", "NOT MET", "met"]


def test_nothing_measured_misses_nothing() -> None:
    assert set(verdicts(RelayReport())) == {"not measured"}


def test_lost_text_misses_an_aim() -> None:
    assert verdicts(report(faults=1))[-1] == "NOT MET"


def test_the_table_compares_with_the_baselines_there_are() -> None:
    line = next(line for line in report().lines() if line.split()[:4] == ["20", "20", "100", "Pipeweb"])
    assert line.split()[4:7] == ["200", "–", "2.00"]


def test_the_json_holds_everything() -> None:
    content = report().as_json()
    assert content["rows"][5]["figures"]["cpu"] == 200
    assert content["capacities"][1]["streams"] == 179 and content["memory"]["full"] == 191
    assert content["aims"][0]["verdict"] == "met" and content["splits"][1]["system"] == "Pipeweb"
