import os
import subprocess
import sys
import time

from sessions_app.bench.meters import cpu_seconds, resident_bytes, tree


def test_work_costs_its_time_and_waiting_costs_none() -> None:
    before = cpu_seconds(os.getpid())
    time.sleep(0.1)
    idle = cpu_seconds(os.getpid())
    begin = time.process_time()
    sum(range(2_000_000))
    assert idle - before < 0.05
    assert abs(cpu_seconds(os.getpid()) - idle - (time.process_time() - begin)) < 0.02


def test_children_belong_to_the_tree() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in tree(os.getpid())
        assert resident_bytes(os.getpid()) > resident_bytes(child.pid) > 0


def test_memory_is_counted_in_bytes() -> None:
    before = resident_bytes(os.getpid())
    ballast = bytearray(os.urandom(1 << 20) * 32)
    assert 30 << 20 < resident_bytes(os.getpid()) - before < 200 << 20
    del ballast
