import pytest
from django.core.management import CommandError, call_command

from sessions_app.bench.registry import Bench
from sessions_app.errors import PipewebError


def test_without_a_name_every_bench_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bench")
    assert capsys.readouterr().out.splitlines()[0].startswith("relay  ")


def test_an_unknown_bench_is_refused() -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("bench", "gardening")


def test_what_cannot_be_measured_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(given: object, say: object) -> None:
        raise PipewebError("It did not start.", hint="Look at the log.")

    broken = Bench("relay", "breaks", lambda parser: None, run)
    monkeypatch.setattr("sessions_app.management.commands.bench.benches", lambda: {"relay": broken})
    with pytest.raises(CommandError, match=r"^It did not start\. Look at the log\.$"):
        call_command("bench", "relay")
