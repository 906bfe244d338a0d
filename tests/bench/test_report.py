import orjson

from sessions_app.bench.load import Load
from sessions_app.bench.report import Aim, Capacity, Report, Row
from tests.bench.test_figures import figures

AIMED = Load(20, 20, 100, 2)


def report(cpu: float = 150, faults: float = 0) -> Report:
    rows = [
        Row("raw socket", AIMED, figures(cpu=100)),
        Row("SDK alone", AIMED, figures(cpu=300)),
        Row("Pipeweb", AIMED, figures(cpu=cpu, faults=faults)),
    ]
    return Report(rows, [Capacity("SDK alone", 20, 40), Capacity("Pipeweb", 20, 149)])


def verdicts(of: Report) -> list[str]:
    return [aim.verdict for aim in of.aims()]


def test_an_aim_is_met_at_its_limit() -> None:
    assert Aim("", 10, 10.0).verdict == Aim("", 10, 10.0, is_floor=True).verdict == "met"
    assert Aim("", 10, 10.1).verdict == Aim("", 10, 9.9, is_floor=True).verdict == "NOT MET"


def test_what_was_not_measured_is_not_met_either() -> None:
    assert Aim("", 10, None).verdict == "not measured"


def test_the_aims_look_at_pipeweb_alone() -> None:
    assert verdicts(report()) == ["met", "met", "met", "NOT MET", "not measured", "met", "met"]


def test_lost_text_misses_an_aim() -> None:
    assert verdicts(report(faults=1))[-1] == "NOT MET"


def test_the_table_compares_with_both_yardsticks() -> None:
    line = next(line for line in report().lines() if "Pipeweb" in line and "streams" not in line)
    assert line.split()[2:6] == ["Pipeweb", "150", "1.5", "0.5"]


def test_the_json_holds_rows_capacities_and_aims() -> None:
    content = orjson.loads(report().json())
    assert content["rows"][2]["figures"]["cpu"] == 150
    assert content["capacities"][1]["streams"] == 149
    assert content["aims"][0]["verdict"] == "met"
