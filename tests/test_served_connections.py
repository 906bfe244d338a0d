"""Database connections of a server: a request gives back its own when it ends."""

from pathlib import Path

import pytest

from tests.server import Server
from tests.visitors import new_session, signed_in

pytestmark = pytest.mark.slow

PAGES = 12


def open_databases(pid: int) -> int:
    """How often the server's process has its database open."""
    links = Path(f"/proc/{pid}/fd").iterdir()
    return sum(link.readlink().name == "pipeweb.sqlite3" for link in links if link.is_symlink())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="NOTICE: no /proc; open files are not counted")
def test_pages_leave_no_connection_behind(tmp_path: Path) -> None:
    with Server(tmp_path) as server, signed_in(server) as person:
        session = new_session(person)
        before = open_databases(server.process.pid)
        for path in (f"/s/{session}/", "/", f"/s/{session}/inspector/") * (PAGES // 3):
            person.get(path)
        assert 0 < open_databases(server.process.pid) <= before + 1
