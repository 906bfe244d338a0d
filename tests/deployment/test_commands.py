"""Every command of DEPLOYMENT.md is run by a test, or has a reason why not; units and alerts are sound."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sessions_app.metrics import REGISTRY
from tests.conftest import ROOT
from tests.deployment.site import FILES, adapted

PAGE = (ROOT / "sessions_app" / "DEPLOYMENT.md").read_text(encoding="utf-8")

MACHINE = "changes the machine: packages, users, /etc"
RUN = {
    "prepare.sh": "tests/deployment/site.py::_prepare",
    "manage.py backup": "tests/deployment/test_update.py::test_back_up_update_and_go_back",
    "manage.py restore": "tests/deployment/test_update.py::test_back_up_update_and_go_back",
    "/readyz": "tests/deployment/test_pages.py::test_both_processes_say_they_are_healthy",
    "nginx -t": "tests/deployment/test_page.py::test_nginx_finds_no_fault_with_the_configuration",
    "pipeweb.asgi:application": "",
}
"""Part of a command → the test that runs it; empty where the page says that none does."""

NOT_RUN = {
    "apt install": MACHINE,
    "adduser ": MACHINE,
    "chown ": MACHINE,
    "install ": MACHINE,
    "runuser -u postgres -- create": "tests/deployment/postgres.py makes the database",
    "alter system": MACHINE,
    "cd ": "the folder of what follows",
    "systemctl ": "systemd itself; the units are verified, and their command lines run",
    "createsuperuser": "asks on a terminal; without, it runs in tests/deployment/test_update.py",
    "git -C": "changes the repository",
}

COMMANDS = [
    line
    for block in re.findall(r"^```\n(.*?)^```", PAGE, re.S | re.M)
    for line in block.splitlines()
    if line and "→" not in line and not line.startswith(" ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_is_run_or_has_a_reason(command: str) -> None:
    parts = [part for part in (*RUN, *NOT_RUN) if part in command]
    assert parts, command
    for place in filter(None, (RUN.get(part) for part in parts)):
        file, _, name = place.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), place


def test_no_reason_is_left_over() -> None:
    everything = "\n".join(COMMANDS)
    assert {part for part in (*RUN, *NOT_RUN) if part not in everything} == set()


def test_the_alerts_name_series_and_labels_that_exist() -> None:
    rules = (FILES / "alerts.yml").read_text(encoding="utf-8")
    samples = {sample.name for metric in REGISTRY.collect() for sample in metric.samples}
    named = set(re.findall(r"\bpipeweb_[a-z_]+", rules))
    assert len(named) >= 5 and named <= samples
    labels = [sample for metric in REGISTRY.collect() for sample in metric.samples]
    for name, label, values in re.findall(r'(pipeweb_\w+)\{(\w+)=~?"([^"]+)"\}', rules):
        known = {sample.labels.get(label) for sample in labels if sample.name == name}
        assert set(values.split("|")) <= known, (name, values)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_finds_no_fault_with_the_units(tmp_path: Path) -> None:
    named = {"pipeweb@.service": "pipeweb@8001.service"}
    files = []
    for path in sorted([*FILES.glob("*.service"), *FILES.glob("*.timer")]):
        unit = path.read_text(encoding="utf-8").replace("/srv/pipeweb/app", str(ROOT))
        target = tmp_path / named.get(path.name, path.name)
        # The user of the units is not one of this machine.
        target.write_text(unit.replace("User=pipeweb\n", ""))
        files.append(str(target))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(files) == 3 and done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if str(tmp_path) in line]


def test_the_backup_unit_writes_a_backup(tmp_path: Path) -> None:
    """Its command, with other folders, as systemd would expand it."""
    (tmp_path / "backups").mkdir()
    values = {"/srv/pipeweb/app": str(ROOT), "/srv/pipeweb/backups": str(tmp_path / "backups")}
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.read_string(adapted("pipeweb-backup.service", values))
    command = unit["Service"]["ExecStart"].replace("$$", "$").replace("%%", "%")
    variables = {"PATH": "/usr/bin:/bin", "PIPEWEB_DATA": str(tmp_path / "data")}
    python = str(ROOT / ".venv" / "bin" / "python")
    subprocess.run([python, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=variables, check=True)
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (made,) = (tmp_path / "backups").iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}\.tar\.gz", made.name)
    assert made.stat().st_mode & 0o777 == 0o600
