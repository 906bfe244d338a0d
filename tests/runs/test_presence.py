"""Locks that die with their process."""

import subprocess
import sys
from pathlib import Path

from sessions_app.runs.presence import Presence

HOLD = """
import sys, time
from pathlib import Path
from sessions_app.runs.presence import Presence
print(Presence(Path(sys.argv[1])).key, flush=True)
time.sleep(60)
"""


def test_a_process_does_not_take_itself_or_a_living_one_for_dead(tmp_path: Path) -> None:
    one, other = Presence(tmp_path), Presence(tmp_path)
    assert one.dead() == set() == other.dead()
    one.leave()
    other.leave()


def test_a_killed_process_is_known_to_be_dead_at_once(tmp_path: Path) -> None:
    mine = Presence(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        key = process.stdout.readline().strip()
        assert mine.dead() == set()
        process.kill()
    assert mine.dead() == {key}
    mine.leave()


def test_a_process_that_leaves_leaves_nothing(tmp_path: Path) -> None:
    Presence(tmp_path).leave()
    assert list(tmp_path.iterdir()) == []


def test_a_forgotten_process_is_not_named_again(tmp_path: Path) -> None:
    (tmp_path / "gone.lock").touch()
    mine = Presence(tmp_path)
    assert mine.dead() == {"gone"}
    mine.forget("gone")
    assert mine.dead() == set()
    mine.leave()
