"""`manage.py conform`, as somebody at a terminal meets it."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

from sessions_app.context.model_lookup import clear_caches, facts_of
from sessions_app.management.commands import conform as command
from sessions_app.models import ModelFacts

MODEL = "gemini-3-flash-preview"


@pytest.fixture(autouse=True)
def fresh(transactional_db: None, settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.PIPEWEB_DATA = tmp_path
    settings.GEMINI_API_KEY = ""
    clear_caches()
    yield
    clear_caches()


def run(**options: Any) -> str:
    out = io.StringIO()
    call_command("conform", model=MODEL, stdout=out, **options)
    return out.getvalue()


def kept(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "conform").iterdir()
    found: dict[str, Any] = orjson.loads(path.read_bytes())
    return found


def test_it_prints_a_line_for_each_probe_and_keeps_a_dated_file(tmp_path: Path) -> None:
    printed = run()
    report = kept(tmp_path)
    assert [line.split()[2] for line in printed.splitlines()[:-2]] == [row["probe"] for row in report["rows"]]
    assert report["is_emulator"] and report["began"].startswith("20") and report["model"] == MODEL
    assert "signature_demanded" in printed and "Kept in" in printed


def test_live_without_a_key_says_what_to_do() -> None:
    with pytest.raises(CommandError, match="GEMINI_API_KEY"):
        run(live=True)


def test_what_the_emulator_answers_is_never_saved() -> None:
    with pytest.raises(CommandError, match="--live"):
        run(save=True)


def test_an_assumption_that_differs_ends_with_an_error(tmp_path: Path) -> None:
    ModelFacts.objects.create(model=MODEL, explicit_minimum=5_000)
    with pytest.raises(CommandError) as differs:
        run()
    assert differs.value.returncode == 2
    assert kept(tmp_path)["learned"]["explicit_minimum"] == 1_024


def test_saving_puts_the_findings_into_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator stands in for the provider: only where the gateway leads differs."""
    emulated = command.gateway(live=False)
    monkeypatch.setattr(command, "gateway", lambda live: emulated)
    ModelFacts.objects.create(model=MODEL, levels=["LOW"], note="Mine")
    with pytest.raises(CommandError) as differs:
        run(live=True, save=True)
    assert differs.value.returncode == 2
    row = ModelFacts.objects.get(model=MODEL)
    assert row.checked_at and row.note == "Mine"
    assert facts_of(MODEL).levels == ("MINIMAL", "LOW", "MEDIUM", "HIGH")
