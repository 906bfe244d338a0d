"""A storm of sockets harms nobody who is connected."""

from pathlib import Path

import pytest

from pipeweb.upgrade_queue import BURST
from tests.bench.processes import START_LIMIT, Server, run_module
from tests.bench.relay_pipeweb import GREETING, MANAGE, SEATS
from tests.bench.storm import StormPlan, StormResult, measure

PEOPLE = 4


def storm(folder: Path, sockets: int) -> StormResult:
    """The storm over a server of its own, with an emulator and room for all."""
    data = str(folder / "data")
    with Server("server", MANAGE, GREETING, folder, PIPEWEB_DATA=data, PIPEWEB_EMULATOR_DELAY="0") as server:
        signed_in = run_module("relay_pipeweb", str(PEOPLE), limit=START_LIMIT, PIPEWEB_DATA=data)
        plan = StormPlan(server.port, SEATS.validate_json(signed_in))
        return measure(plan, sockets)


@pytest.mark.slow
def test_those_who_are_connected_are_answered_during_a_storm_and_after_it(tmp_path: Path) -> None:
    result = storm(tmp_path, 300)
    assert None not in result.during and None not in result.after
    assert set(result.ends) <= {"hello", "denied"} and sum(result.ends.values()) == 300
    assert result.ends["hello"] >= PEOPLE * BURST
