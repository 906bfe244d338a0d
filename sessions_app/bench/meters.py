"""CPU time and memory of a process and its children, from the Linux kernel."""

import os
import time
from contextlib import suppress
from pathlib import Path

WHOLE_PROCESS = 2
"""CPUCLOCK_SCHED: all threads of a process, user and system, in ns; `stat` counts in steps of 10 ms."""


def tree(pid: int) -> list[int]:
    """The process and everything it started that is still there."""
    found = [pid]
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [one for child in listing.read_text().split() for one in tree(int(child))]
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time of the tree so far."""
    return sum(time.clock_gettime((~one << 3) | WHOLE_PROCESS) for one in tree(pid))


def resident_bytes(pid: int) -> int:
    """Memory of the tree that is in RAM now."""
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in tree(pid))
    return pages * os.sysconf("SC_PAGE_SIZE")
