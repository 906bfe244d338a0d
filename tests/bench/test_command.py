from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command

import manage
from sessions_app.errors import PipewebError
from tests.bench import command
from tests.bench.base import Aim, Bench
from tests.bench.command import Command


def test_without_a_name_every_bench_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    call_command(Command())
    assert capsys.readouterr().out.splitlines()[0].startswith("relay  ")


def test_an_unknown_bench_is_refused() -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        call_command(Command(), "gardening")


def test_what_cannot_be_measured_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(given: object, say: object) -> list[Aim]:
        raise PipewebError("It did not start.", hint="Look at the log.")

    broken = Bench("relay", "breaks", lambda parser: None, run)
    monkeypatch.setattr(command, "BENCHES", {"relay": broken})
    with pytest.raises(CommandError, match=r"^It did not start\. Look at the log\.$"):
        call_command(Command(), "relay")


def test_the_aims_are_printed_after_the_measurement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(given: object, say: Callable[[str], None]) -> list[Aim]:
        say("measured")
        return [Aim("slowness", 5, 7.0)]

    slow = Bench("relay", "is slow", lambda parser: None, run)
    monkeypatch.setattr(command, "BENCHES", {"relay": slow})
    call_command(Command(), "relay")
    measured, aim = capsys.readouterr().out.splitlines()
    assert measured == "measured" and aim.split()[:2] == ["NOT", "MET"]


def measured(monkeypatch: pytest.MonkeyPatch, *values: float | None) -> None:
    aims = [Aim("slowness", 5, value) for value in values]
    fake = Bench("relay", "measures nothing", lambda parser: None, lambda given, say: aims)
    monkeypatch.setattr(command, "BENCHES", {"relay": fake})


def test_a_check_exits_with_1_when_an_aim_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, 4.0, 7.0)
    with pytest.raises(CommandError) as missed:
        call_command(Command(), "relay", "--check")
    assert missed.value.returncode == 1
    call_command(Command(), "relay")


def test_a_check_passes_when_no_aim_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, 5.0, None)
    call_command(Command(), "relay", "--check")


@pytest.mark.parametrize("name", command.BENCHES)
def test_every_bench_can_be_checked(name: str) -> None:
    assert Command().create_parser("manage.py", "bench").parse_args([name, "--check"]).check


def test_the_command_line_hands_bench_to_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, 7.0)
    with pytest.raises(SystemExit) as ended:
        manage.execute(["manage.py", "bench", "relay", "--check"])
    assert ended.value.code == 1
