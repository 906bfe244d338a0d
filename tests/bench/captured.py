"""`bench captured`: pages and recording of a captured session of thousands of requests.

`python -m tests.bench.captured REQUESTS REPEATS` records the requests in an empty database, as the relay
hands them over, asks for every page as a browser would, and prints a Soak as JSON.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from tests.bench.base import Aim, Bench, Say, ratio
from tests.bench.inspector import HEADING, PageTimes, measure, tabs_of
from tests.bench.processes import empty_database, run_module, set_up_django

if TYPE_CHECKING:
    from sessions_app.capture.records import Record
    from sessions_app.models import CaptureAddress

REQUESTS = 5_000
REPEATS = 5
SHORT = 200
"""Requests of the session that the long one is compared with."""

ROUND = 10
"""Requests of one conversation; the session has as many as it takes, since all give the same name."""

BATCH = 50
"""Requests that are written together."""

SYSTEM = "You bake bread and answer with figures. " * 500
LIMIT = 1_800.0
"""Seconds for recording and reading."""

PAGE_AIM, RECORD_AIM = 100.0, 60.0


@dataclass(frozen=True, slots=True)
class Soak:
    """`first_ms` and `last_ms` are ms of CPU for recording a request of the first and of the last tenth."""

    pages: list[PageTimes]
    first_ms: float
    last_ms: float


SOAK = TypeAdapter(Soak)


def read(requests: int, repeats: int) -> Soak:
    """Records and reads in a process and a database of its own. Raises PipewebError."""
    with empty_database() as folder:
        printed = run_module("captured", str(requests), str(repeats), limit=LIMIT, PIPEWEB_DATA=folder)
    return SOAK.validate_json(printed)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=REQUESTS, help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of each page (default: %(default)s)")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    soak = read(given["requests"], given["repeats"])
    say("Medians of server time; ratios are of CPU, to a page that reads nothing.")
    say(HEADING)
    for page in soak.pages:
        say(
            f"{page.name:<22}{page.ms:>9.1f}{page.cpu:>9.1f}{ratio(page.cpu, soak.pages[0].cpu):>9.1f}"
            f"{page.queries:>9}{page.size / 1000:>9.0f}"
        )
    say(f"recording a request, ms of CPU: {soak.first_ms:.1f} at first, {soak.last_ms:.1f} at last")
    return aims(soak)


def aims(soak: Soak) -> list[Aim]:
    # Of a search the inspector's limit is for a fifth of these requests: it is printed only.
    own = [page for page in soak.pages[1:] if not page.is_search]
    lists = [page.queries for page in soak.pages if page.name.startswith("list")]
    return [
        Aim("slowest page, ms of CPU", PAGE_AIM, max((page.cpu for page in own), default=None)),
        Aim("queries the list needs beyond the short session's", 0, lists[-1] - lists[0] if lists else None),
        Aim("recording a request at last, ms of CPU", RECORD_AIM, soak.last_ms),
    ]


def records_of(address: "CaptureAddress", name: str, requests: int) -> Iterator["Record"]:
    """Conversations one after another, each of ROUND requests, in a session that they name."""
    from django.utils import timezone

    from tests.capture.conversations import body_of, model, user

    now = timezone.now() - timedelta(seconds=requests)
    contents: list[Any] = []
    for number in range(requests):
        if number % ROUND == 0:
            contents = []
        contents.append(user(f"Question {number}: how long does a loaf of {number} grams bake?"))
        body = body_of(contents, system=SYSTEM)
        said = f"Answer {number}: about {number} minutes."
        contents.append(model(said))
        yield from exchange_records(address, name, body, said, now + timedelta(seconds=number))


def exchange_records(
    address: "CaptureAddress", name: str, body: bytes, said: str, at: datetime
) -> Iterator["Record"]:
    """Beginning and end of one request, answered after 300 ms."""
    from sessions_app.capture.records import Begun, Ended
    from tests.factories import text_chunk

    begun = Begun(
        address=address.pk,
        owner=address.owner_id,
        received_at=at,
        method="POST",
        path="/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
        client="bench/1",
        scope="bench",
        name=name,
        model="gemini-3.8-flash",
        asks_model=True,
        body=body,
        size=len(body),
    )
    usage = {"promptTokenCount": 5_000, "candidatesTokenCount": 9, "totalTokenCount": 5_009}
    answer = b"data: " + text_chunk(said, finish="STOP", usage=usage) + b"\r\n\r\n"
    yield begun
    yield Ended(
        begun.key,
        begun.address,
        begun.owner,
        True,
        begun.received_at + timedelta(milliseconds=300),
        status=200,
        body=answer,
        size=len(answer),
        request_size=len(body),
        packets=[(250.0, len(answer))],
        first_ms=250.0,
        total_ms=300.0,
    )


def record(address: "CaptureAddress", name: str, requests: int) -> list[float]:
    """Returns ms of CPU for a request, batch by batch."""
    from sessions_app.capture.recording import Recording

    recording, spent = Recording(), []
    waiting = list(records_of(address, name, requests))
    for start in range(0, len(waiting), 2 * BATCH):
        records = waiting[start : start + 2 * BATCH]
        began = time.process_time()
        recording(records)
        spent.append((time.process_time() - began) * 1000 / (len(records) / 2))
    return spent


def soak_of(requests: int, repeats: int) -> Soak:
    from django.contrib.auth.models import User
    from django.test import Client

    from sessions_app.models import CaptureAddress, Session

    owner = User.objects.create_user("bench")
    address, _ = CaptureAddress.issue(owner.pk, "bench")
    record(address, "short", SHORT)
    spent = record(address, "long", requests)
    short, long = (Session.objects.get(title=title) for title in ("short", "long"))
    stranger, client = Client(SERVER_NAME="localhost"), Client(SERVER_NAME="localhost")
    client.force_login(owner)
    tabs = tabs_of(client.get(f"/s/{long.public}/inspect/1/").content)
    pages = [
        (f"list, {SHORT}", f"/s/{short.public}/inspect/"),
        (f"list, {requests}", f"/s/{long.public}/inspect/"),
        (f"search, {requests}", f"/s/{long.public}/inspect/?q=loaf"),
        ("capture", "/capture/"),
        ("capture, list", "/capture/list/"),
        ("transcript", f"/s/{long.public}/"),
        *((f"{tab}, first", f"/s/{long.public}/inspect/1/?tab={tab}") for tab in tabs),
        *((f"{tab}, last", f"/s/{long.public}/inspect/{requests}/?tab={tab}") for tab in tabs),
    ]
    bare = measure(stranger, "bare page", "/sign-in", repeats)
    tenth = max(1, len(spent) // 10)
    first, last = (sum(part) / len(part) for part in (spent[:tenth], spent[-tenth:]))
    return Soak([bare, *(measure(client, name, path, repeats) for name, path in pages)], first, last)


def main(requests: str, repeats: str) -> None:
    set_up_django()
    from django.conf import settings

    # Otherwise every query is kept for the debugger, and its time is measured too.
    settings.DEBUG = False
    sys.stdout.buffer.write(SOAK.dump_json(soak_of(int(requests), int(repeats))))


BENCH = Bench("captured", "pages and recording of a captured session of 5,000 requests", add_arguments, run)

if __name__ == "__main__":
    main(*sys.argv[1:])
