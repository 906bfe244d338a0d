"""The environments of the real clients: what pins them, and when they are made anew."""

import re
from pathlib import Path

import pytest

from pipeweb import bootstrap
from tests.clients import environments
from tests.clients.environments import ENVIRONMENTS, PINS, ClientEnvironment, missing

REQUIREMENT = re.compile(r"[\w.-]+==\S+(?: ; .+)?", re.ASCII)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientEnvironment:
    """The only environment; installing makes an interpreter and nothing else."""

    def install(command: list[str]) -> None:
        made = environment.folder / ".venv"
        (made / "bin").mkdir(parents=True, exist_ok=True)
        (made / "bin" / "python").touch()
        (made / "lib" / "python3" / "site-packages" / "pip").mkdir(parents=True, exist_ok=True)

    (tmp_path / "pins").mkdir()
    (tmp_path / "pins" / "telephone.txt").write_text("telephone==1\n")
    environment = ClientEnvironment("telephone")
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "made")
    monkeypatch.setattr(environments, "PINS", tmp_path / "pins")
    monkeypatch.setattr(environments, "ENVIRONMENTS", (environment,))
    monkeypatch.setattr(bootstrap, "run", install)
    return environment


def test_an_environment_that_was_never_made_is_missing(client: ClientEnvironment) -> None:
    assert missing() == ["telephone"]


def test_the_command_makes_what_is_missing_and_leaves_what_is_there(client: ClientEnvironment) -> None:
    assert environments.main() == 0 and missing() == []
    (client.folder / "mark").touch()
    assert environments.main() == 0 and (client.folder / "mark").exists()


def test_other_pins_make_it_anew(client: ClientEnvironment, tmp_path: Path) -> None:
    environments.main()
    (client.folder / "mark").touch()
    (tmp_path / "pins" / "telephone.txt").write_text("telephone==2\n")
    assert missing() == ["telephone"]
    assert environments.main() == 0 and missing() == [] and not (client.folder / "mark").exists()


def test_a_failed_installation_is_one_line_and_leaves_it_missing(
    client: ClientEnvironment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(command: list[str]) -> None:
        raise bootstrap.BootstrapError("packages could not be downloaded")

    monkeypatch.setattr(bootstrap, "run", fail)
    assert environments.main() == 1 and missing() == ["telephone"]
    assert capsys.readouterr().err == "pipeweb: packages could not be downloaded\n"


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.name)
def test_every_package_is_pinned_with_its_hashes_and_without_a_host(environment: ClientEnvironment) -> None:
    text = (PINS / f"{environment.name}.txt").read_text().replace(" \\\n", "\n")
    wanted, hashes = [], 0
    for line in text.splitlines():
        if line.startswith("    --hash=sha256:"):
            hashes += 1
        else:
            wanted.append(line)
    assert wanted and all(REQUIREMENT.fullmatch(line.strip()) for line in wanted)
    assert hashes >= len(wanted)


def test_the_javascript_packages_are_pinned_without_a_host() -> None:
    text = (PINS / "package-lock.json").read_text()
    assert '"resolved"' not in text
    assert text.count('"integrity": "sha512-') == text.count('"node_modules/')
