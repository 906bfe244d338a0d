"""The installation with pip itself, from a folder of wheels made here."""

import hashlib
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from pipeweb.bootstrap import VirtualEnvironment


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place that pip may look at."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setattr("shutil.which", lambda name: None)
    return folder


def make_wheel(folder: Path, name: str, version: str, metadata: str = "") -> str:
    """Writes an empty package and returns its line of a requirement file."""
    file = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with ZipFile(file, "w") as archive:
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}\n"


def test_a_release_after_the_lock_of_a_package_wanted_with_an_extra_changes_nothing(
    tmp_path: Path, wheels: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    locked = make_wheel(wheels, "transport", "1.0", "Provides-Extra: requests\n")
    client = make_wheel(wheels, "client", "1.0", "Requires-Dist: transport[requests]>=1.0\n")
    make_wheel(wheels, "transport", "2.0", "Provides-Extra: requests\n")
    (root / "requirements.txt").write_text(locked + client)

    venv = VirtualEnvironment(root)
    venv.prepare(["requirements.txt"])

    listed = subprocess.run(
        [str(venv.python), "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True
    )
    assert {"client==1.0", "transport==1.0"} <= set(listed.stdout.split())
