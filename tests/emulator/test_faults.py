import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.faults import Fault, parse_faults
from sessions_app.emulator.markers import Mark
from sessions_app.emulator.refusals import Refusal
from tests.emulator.wire import FLASH, generate, send, user

HELLO = {"contents": [user("hello")]}


def statuses(emulator: Emulator, count: int = 40) -> list[int]:
    path = f"models/{FLASH}:generateContent"
    return [send(emulator, "POST", path, HELLO)[0] for _ in range(count)]


def test_a_fault_is_a_marker_with_a_chance() -> None:
    assert parse_faults("error 503; p=0.3; seed=7, /wire torn") == (
        Fault(Mark("error", "503", False), 0.3, 7),
        Fault(Mark("wire", "torn", False), 1.0, 0),
    )


@pytest.mark.parametrize("text", ["nonsense", "error 503; p=often", "error; chance=1"])
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        parse_faults(text)


def test_a_fault_of_the_command_line_strikes_by_chance_and_by_seed() -> None:
    runs = [
        statuses(Emulator(delay=0, faults=parse_faults(f"error 503; p=0.5; seed={s}"))) for s in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]
    assert 5 < runs[0].count(503) < 35


def test_a_certain_fault_always_strikes_and_an_impossible_one_never() -> None:
    assert set(statuses(Emulator(delay=0, faults=parse_faults("error 429")), 5)) == {429}
    assert set(statuses(Emulator(delay=0, faults=parse_faults("error 429; p=0")), 5)) == {200}


def test_a_header_asks_for_a_fault(emulator: Emulator) -> None:
    path = f"models/{FLASH}:generateContent"
    struck = send(emulator, "POST", path, HELLO, headers={"x-emulator-fault": "error 500"})
    assert struck[0] == 500
    assert "error" not in generate(emulator, HELLO)


def test_a_header_that_asks_for_nonsense_is_told_so(emulator: Emulator) -> None:
    path = f"models/{FLASH}:generateContent"
    status, body = send(emulator, "POST", path, HELLO, headers={"x-emulator-fault": "thunder"})
    assert status == 400 and b"Unknown fault: thunder" in body
