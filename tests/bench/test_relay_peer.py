import os
import socket
from pathlib import Path

import pytest

from sessions_app.errors import PipewebError
from tests.bench.relay import fake_upstream
from tests.bench.relay_floor import DAPHNE, SERVERS, bare_relay
from tests.bench.relay_load import Load
from tests.bench.relay_peer import listeners, peer_at


def test_who_listens_on_a_port_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert os.getpid() in listeners(port)
    assert listeners(port) == []


def test_an_address_where_nothing_listens_is_refused() -> None:
    with pytest.raises(PipewebError, match="no program"):
        peer_at("http://127.0.0.1:9", "openai", "http://127.0.0.1:1")


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVERS)
def test_a_running_server_is_measured_as_a_peer(name: str, tmp_path: Path) -> None:
    with fake_upstream(tmp_path) as upstream, bare_relay(name, tmp_path, upstream) as relay:
        url = f"http://127.0.0.1:{listening(relay.pids[0])}"
        peer = peer_at(url, "websocket", upstream)
        result = peer.measure(Load(streams=2, pace=5, chunks=20))
        assert peer.pids == relay.pids
        assert (len(result.relays), result.faults) == (40, [])
        assert 0 < result.cpu < 10
        with pytest.raises(PipewebError, match="no whole answer") as refused:
            peer_at(url, "openai", upstream)
    assert upstream in refused.value.hint


@pytest.mark.slow
def test_an_adapter_may_stand_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_a_neighbour.py").write_text(
        "from tests.bench.relay_adapters import WebSocketAdapter as Own"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    with fake_upstream(tmp_path) as upstream, bare_relay(DAPHNE, tmp_path, upstream) as relay:
        peer = peer_at(f"http://127.0.0.1:{listening(relay.pids[0])}", "of_a_neighbour.Own", upstream)
        assert peer.measure(Load(streams=1, pace=5, chunks=5)).faults == []


def listening(pid: int) -> int:
    """The port of a server, looked up among those that this machine's table names."""
    table = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ports = {int(line.split()[1].rpartition(":")[2], 16) for line in table if line.split()[3] == "0A"}
    return next(port for port in ports if pid in listeners(port))
