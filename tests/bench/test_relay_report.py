from tests.bench.relay_load import Load
from tests.bench.relay_report import Capacity, Measurement, RelayReport
from tests.bench.test_relay_load import figures

AIMED = Load(20, 20, 100, 2)


def report(cpu: float = 150, faults: float = 0) -> RelayReport:
    rows = [
        Measurement("raw socket", AIMED, figures(cpu=100)),
        Measurement("SDK alone", AIMED, figures(cpu=300)),
        Measurement("Pipeweb", AIMED, figures(cpu=cpu, faults=faults)),
    ]
    return RelayReport(rows, [Capacity("SDK alone", 20, 40), Capacity("Pipeweb", 20, 149)])


def verdicts(of: RelayReport) -> list[str]:
    return [aim.verdict for aim in of.aims()]


def test_the_aims_look_at_pipeweb_alone() -> None:
    assert verdicts(report()) == ["met", "met", "met", "NOT MET", "not measured", "met", "met"]


def test_lost_text_misses_an_aim() -> None:
    assert verdicts(report(faults=1))[-1] == "NOT MET"


def test_the_table_compares_with_both_yardsticks() -> None:
    line = next(line for line in report().lines() if "Pipeweb" in line and "streams" not in line)
    assert line.split()[2:6] == ["Pipeweb", "150", "1.5", "0.5"]


def test_the_json_holds_rows_capacities_and_aims() -> None:
    content = report().as_json()
    assert content["rows"][2]["figures"]["cpu"] == 150
    assert content["capacities"][1]["streams"] == 149
    assert content["aims"][0]["verdict"] == "met"
