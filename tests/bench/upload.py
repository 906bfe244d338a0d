"""`bench upload`: what other people notice while somebody uploads 50 MB, or tries to upload too much.

`python -m tests.bench.upload PORT PATH COOKIE SIZE chunked|declared COUNT` sends that many bodies one after
the other and writes the seconds and the status of each.
"""

import http.client
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from sessions_app.body_limits import FORM_LIMIT
from sessions_app.errors import PipewebError
from sessions_app.media import FILE_LIMIT
from tests.bench.base import Aim, Bench, Say, percentile, positive
from tests.bench.processes import (
    ROOT,
    START_LIMIT,
    Server,
    environment,
    resident_bytes,
    run_module,
    temporary_folder,
)
from tests.bench.relay_pipeweb import GREETING, MANAGE, SEATS, Seat

PIECE = 64 * 1024
BOUNDARY = "pipeweb-bench"
TOKEN = "b" * 32
"""Of CSRF: the cookie and the header hold the same."""

PAUSE = 0.005
"""Seconds between two probes of one kind."""

KINDS = ("loop p95", "page p95", "write p95")

TOO_LARGE = 126_000_000
REFUSED = 10
UPLOAD_LIMIT_SECONDS = 120


@dataclass(slots=True)
class Times:
    """Milliseconds of every probe of one phase, and the largest memory of the server seen in it."""

    loop: list[float] = field(default_factory=list)
    page: list[float] = field(default_factory=list)
    write: list[float] = field(default_factory=list)
    rss: int = 0

    def line(self, name: str) -> str:
        kinds = (self.loop, self.page, self.write)
        figures = "".join(f"{percentile(one, 95):>14.1f}{percentile(one, 100):>9.1f}" for one in kinds)
        return f"{name:<24}{figures}{self.rss / 1e6:>9.0f}"


class Probes:
    """Another person at the server: what only the event loop answers, a page, and a change of a row."""

    def __init__(self, server: Server, seat: Seat) -> None:
        self._server = server
        self._seat = seat
        self._cookie = f"{seat.cookie}; pipeweb_csrf={TOKEN}"

    def during(self, work: Callable[[], Any]) -> tuple[Times, Any]:
        """What the probes measured while `work` ran, and what it returned."""
        times, ended = Times(), threading.Event()
        jobs = ((self._ask_loop, times.loop), (self._read_page, times.page), (self._write, times.write))
        threads = [threading.Thread(target=self._repeat, args=(*job, ended)) for job in jobs]
        threads.append(threading.Thread(target=self._watch_memory, args=(times, ended)))
        for thread in threads:
            thread.start()
        try:
            answer = work()
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        return times, answer

    def _repeat(self, probe: Callable[[], int], times: list[float], ended: threading.Event) -> None:
        while not ended.is_set():
            began = time.perf_counter()
            status = probe()
            times.append((time.perf_counter() - began) * 1000 if status else float("inf"))
            ended.wait(PAUSE)

    def _watch_memory(self, times: Times, ended: threading.Event) -> None:
        while not ended.wait(0.02):
            times.rss = max(times.rss, resident_bytes(self._server.pid))

    def _ask_loop(self) -> int:
        """A body that is refused by its length: no thread and no database has a part in it."""
        return self._request("POST", "/new", {"Content-Length": str(FORM_LIMIT + 1)}, 413)

    def _read_page(self) -> int:
        return self._request("GET", f"/s/{self._seat.session}/", {"Cookie": self._cookie}, 200)

    def _write(self) -> int:
        form = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": TOKEN}
        path = f"/s/{self._seat.session}/rename/"
        return self._request("POST", path, {**form, "Cookie": self._cookie}, 200, b"title=Bench")

    def _request(
        self, method: str, path: str, headers: dict[str, str], wanted: int, body: bytes | None = None
    ) -> int:
        """The status; 0 for none, or for another than is wanted."""
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=60)
        with closing(connection), suppress(OSError, http.client.HTTPException):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            return response.status if response.status == wanted else 0
        return 0


def send(server: Server, seat: Seat, size: int, how: str = "declared", count: int = 1) -> list[list[float]]:
    """Sends files from a process of its own; returns seconds and status of each. Raises PipewebError."""
    path = f"/s/{seat.session}/attachments/"
    command = [sys.executable, "-m", "tests.bench.upload", str(server.port), path, seat.cookie]
    done = subprocess.run(
        [*command, str(size), how, str(count)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        timeout=UPLOAD_LIMIT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise PipewebError(f"bench: the upload failed: {done.stderr.decode()[-300:]}")
    answers: list[list[float]] = orjson.loads(done.stdout)
    return answers


def expect(answers: list[list[float]], *statuses: int) -> None:
    """Raises PipewebError for an answer with another status."""
    if wrong := {int(status) for _, status in answers} - set(statuses):
        raise PipewebError(f"bench: a file was answered with {wrong}.")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--idle", type=positive(float), default=3.0, help="seconds of rest (default: 3)")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    with temporary_folder() as folder:
        data = str(folder / "data")
        with Server("server", MANAGE, GREETING, folder, PIPEWEB_DATA=data) as server:
            made = run_module("relay_pipeweb", "2", limit=START_LIMIT, PIPEWEB_DATA=data)
            person, other = SEATS.validate_json(made)
            return measure(server, person, Probes(server, other), given["idle"], say)


def measure(server: Server, person: Seat, probes: Probes, idle: float, say: Say) -> Sequence[Aim]:
    expect(send(server, person, 1_000_000), 200)
    probes.during(lambda: time.sleep(1))
    say(f"{'ms, MB':<24}" + "".join(f"{kind:>14}{'max':>9}" for kind in KINDS) + f"{'RSS':>9}")
    rest, _ = probes.during(lambda: time.sleep(idle))
    say(rest.line("nobody uploads"))
    stored, answers = probes.during(lambda: send(server, person, FILE_LIMIT))
    expect(answers, 200)
    say(stored.line(f"50 MB in {answers[0][0]:.1f} s"))
    refused, answers = probes.during(lambda: send(server, person, TOO_LARGE, count=REFUSED))
    expect(answers, 413)
    say(refused.line(f"{REFUSED} × 126 MB, refused"))
    endless, answers = probes.during(lambda: send(server, person, TOO_LARGE, "chunked"))
    expect(answers, 413)
    say(endless.line("126 MB without a length"))
    phases = {"a stored file": stored, "refused files": refused, "a file without a length": endless}
    return [*aims_of(rest, phases)]


def aims_of(rest: Times, phases: Mapping[str, Times]) -> Iterator[Aim]:
    for name, times in phases.items():
        yield Aim(f"longest wait for the loop during {name}, ms", 50, max(times.loop))
        longer = percentile(times.page, 95) - percentile(rest.page, 95)
        yield Aim(f"a page takes longer at p95 during {name}, ms", 50, longer)
        later = percentile(times.write, 95) - percentile(rest.write, 95)
        yield Aim(f"a change takes longer at p95 during {name}, ms", 50, later)
    grown = max(times.rss for times in phases.values()) - rest.rss
    yield Aim("memory beyond that of rest, MB", 40, grown / 1e6)


def pieces_of(size: int) -> Iterator[bytes]:
    """A form with a picture that is never the same twice: known bytes are not stored again."""
    form = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    yield form.encode() + b"\x89PNG\r\n\x1a\n" + str(time.time_ns()).encode()
    left = size - 8 - 19
    noise = bytes(range(256)) * (PIECE // 256)
    while left > 0:
        yield noise[:left]
        left -= PIECE
    yield f"\r\n--{BOUNDARY}--\r\n".encode()


def send_one(port: int, path: str, cookie: str, size: int, how: str) -> tuple[float, int]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=UPLOAD_LIMIT_SECONDS)
    headers = {
        "Cookie": f"{cookie}; pipeweb_csrf={TOKEN}",
        "X-CSRFToken": TOKEN,
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
    }
    if how == "declared":
        headers["Content-Length"] = str(sum(map(len, pieces_of(size))))
    began = time.perf_counter()
    with closing(connection):
        # A server that refuses stops reading; its answer is there all the same.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", path, pieces_of(size), headers, encode_chunked=how == "chunked")
        status = http.client.HTTPResponse(connection.sock)
        status.begin()
    return time.perf_counter() - began, status.status


def main(port: str, path: str, cookie: str, *rest: str) -> None:
    size, how, count = rest
    answers = [send_one(int(port), path, cookie, int(size), how) for _ in range(int(count))]
    sys.stdout.buffer.write(orjson.dumps(answers))


BENCH = Bench(
    "upload", "a file of 50 MB, and files that are refused: what do other people notice?", add_arguments, run
)

if __name__ == "__main__":
    main(*sys.argv[1:])
