"""The alert rules, evaluated by Prometheus itself over series that are made for each."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import IN_CI
from tests.deployment.programs import found
from tests.deployment.site import FILES

RULES = FILES / "alerts.yml"
PROMTOOL = found("promtool")


@dataclass(frozen=True, slots=True)
class Case:
    """A series with a sample a minute, as promtool writes it, and the minute at which its alert is asked."""

    alert: str
    series: str
    quiet: str
    loud: str
    minute: int


LATE = 'pipeweb_first_chunk_seconds_bucket{le="%s"}'
ERRORS = 'pipeweb_errors_total{kind="%s"}'
CASES = [
    Case("PipewebHeartbeatLate", "pipeweb_heartbeat_age_seconds", "15x20", "16x20", 5),
    Case("PipewebDatabaseSlow", "pipeweb_flush_lag_seconds", "0.9x20", "1.1x20", 8),
    Case("PipewebDefect", ERRORS % "Unexpected", "3x20", "3x4 4x15", 10),
    Case("PipewebProviderRefuses", ERRORS % "QuotaExceeded", "0+0.5x20", "0+1x20", 16),
    Case("PipewebProviderDown", ERRORS % "Unreachable", "0+0.5x20", "0+1x20", 16),
    Case("PipewebProviderDown", ERRORS % "ProviderDown", "0+0.5x20", "0+1x20", 16),
    Case("PipewebDiskFull", ERRORS % "StorageFull", "0x20", "0x4 1x15", 10),
    Case(
        "PipewebRunsInterrupted", 'pipeweb_runs_ended_total{status="interrupted"}', "0+0.2x20", "0+1x20", 16
    ),
]


each_case = pytest.mark.parametrize(
    "case", CASES, ids=[f"{case.alert}-{case.series[-14:]}" for case in CASES]
)


@pytest.fixture(autouse=True)
def needs_promtool() -> None:
    if PROMTOOL is None:
        if IN_CI:
            pytest.fail("promtool is missing: .ci/run installs it")
        pytest.skip("promtool is not installed: apt install prometheus")


def evaluate(folder: Path, series: dict[str, str], alert: str, minute: int, *, fires: bool) -> str:
    """What promtool says where an alert does not do as expected; empty where it does."""
    labels = dict(re.findall(r'(\w+)="([^"]*)"', "".join(series)))
    labels.pop("le", None)
    expected = [{"exp_labels": labels, "exp_annotations": {"summary": summary_of(alert)}}] if fires else []
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{minute}m", "alertname": alert, "exp_alerts": expected}],
    }
    plan: dict[str, Any] = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}
    file = folder / "rules.json"  # JSON is YAML.
    file.write_text(json.dumps(plan))
    done = subprocess.run(
        [str(PROMTOOL), "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def summary_of(alert: str) -> str:
    """The summary of an alert."""
    lines = RULES.read_text(encoding="utf-8").splitlines()
    after = lines[lines.index(f"      - alert: {alert}") :]
    return next(line for line in after if "summary: " in line).partition("summary: ")[2].strip('"')


def test_prometheus_finds_no_fault_with_the_rules() -> None:
    done = subprocess.run([str(PROMTOOL), "check", "rules", str(RULES)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@each_case
def test_an_alert_fires_when_it_should(case: Case, tmp_path: Path) -> None:
    assert evaluate(tmp_path, {case.series: case.loud}, case.alert, case.minute, fires=True) == ""


@each_case
def test_an_alert_is_quiet_below_its_limit(case: Case, tmp_path: Path) -> None:
    assert evaluate(tmp_path, {case.series: case.quiet}, case.alert, case.minute, fires=False) == ""


@pytest.mark.parametrize(("below", "fires"), [("0+90x30", True), ("0+99x30", False)])
def test_late_first_chunks_are_told_by_their_95th_percentile(below: str, fires: bool, tmp_path: Path) -> None:
    series = {LATE % "16": below, LATE % "32": "0+100x30", LATE % "+Inf": "0+100x30"}
    assert evaluate(tmp_path, series, "PipewebFirstChunkLate", 25, fires=fires) == ""


def test_every_alert_has_a_case() -> None:
    alerts = {line.partition("alert: ")[2] for line in RULES.read_text().splitlines() if "- alert:" in line}
    assert alerts == {each.alert for each in CASES} | {"PipewebFirstChunkLate"}
