"""Another chat server of this machine under the loads of `bench relay`."""

from pathlib import Path
from urllib.parse import urlsplit

from sessions_app.errors import PipewebError
from tests.bench.relay_client import ServedSystem
from tests.bench.relay_load import Load

PROBE = Load(streams=2, pace=5, chunks=10)
_LISTENS = "0A"


def peer_at(url: str, adapter: str, upstream: str) -> ServedSystem:
    """The server at this address, named by it, after a first answer. Raises PipewebError.

    It must ask the fake Gemini at `upstream`, and run here: its CPU is that of the processes that listen.
    """
    parts = urlsplit(url)
    address = f"{parts.hostname}:{parts.port or 80}"
    pids = listeners(parts.port or 80)
    if parts.scheme != "http" or not pids:
        raise PipewebError(
            f"bench: no program of this machine that may be looked at listens at {url}.",
            hint="--peer takes an http:// address; start the server as the same user.",
        )
    peer = ServedSystem(address, adapter, [url], pids)
    if faults := peer.measure(PROBE).faults:
        raise PipewebError(
            f"bench: the peer gave no whole answer: {faults[0]}.",
            hint=f"Its base URL of Gemini must be {upstream}, and --adapter the right one.",
        )
    return peer


def listeners(port: int) -> list[int]:
    """The processes that listen on this TCP port; of a parent and its children the parent alone."""
    sockets = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in _inodes(table, port)}
    found = {int(path.name) for path in Path("/proc").glob("[0-9]*") if sockets & _open_files(path)}
    return sorted(pid for pid in found if _parent(pid) not in found)


def _inodes(table: str, port: int) -> list[str]:
    lines = Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    rows = [line.split() for line in lines]
    return [row[9] for row in rows if row[3] == _LISTENS and int(row[1].rpartition(":")[2], 16) == port]


def _open_files(process: Path) -> set[str]:
    found = set()
    try:
        for file in (process / "fd").iterdir():
            found.add(str(file.readlink()))
    except OSError:
        pass  # It has ended, or is another user's.
    return found


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
