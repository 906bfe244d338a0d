"""A storm of sockets harms nobody who is connected."""

from pathlib import Path

import pytest

from pipeweb.upgrade_queue import BURST
from tests.bench.processes import START_LIMIT, Server, run_module
from tests.bench.relay_load import Load
from tests.bench.relay_pipeweb import GREETING, MANAGE, SEATS, Plan
from tests.bench.storm import StormResult, measure

PEOPLE = 4


def storm(folder: Path, sockets: int) -> StormResult:
    """The storm over a server of its own, with an emulator and room for all."""
    data = str(folder / "data")
    with Server("server", MANAGE, GREETING, folder, PIPEWEB_DATA=data, PIPEWEB_EMULATOR_DELAY="0") as server:
        signed_in = run_module("relay_pipeweb", "sign-in", str(PEOPLE), limit=START_LIMIT, PIPEWEB_DATA=data)
        plan = Plan(server.port, server.pid, Load(PEOPLE, 0, 0), SEATS.validate_json(signed_in))
        return measure(plan, sockets)


@pytest.mark.slow
def test_those_who_are_connected_are_answered_during_a_storm_and_after_it(tmp_path: Path) -> None:
    result = storm(tmp_path, 300)
    assert None not in result.during and None not in result.after
    assert set(result.ends) <= {"hello", "denied"} and sum(result.ends.values()) == 300
    assert result.ends["hello"] >= PEOPLE * BURST
