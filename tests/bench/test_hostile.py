"""`bench hostile`: what it asserts of an attack, and that its upstream is as bad as it says."""

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator

import httpx2
import orjson
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from sessions_app.errors import PipewebError
from sessions_app.models import Run, Session
from sessions_app.prompt.reply import Outcome, fold
from tests.bench import hostile, hostile_rows, hostile_upstream
from tests.bench.browser import ACCEPTED_HEADER, HTMX
from tests.bench.fake_upstream import answer_requests
from tests.bench.hostile import Effect
from tests.bench.hostile_aims import EXPECTED
from tests.bench.hostile_attacks import ATTACKS, AttackPlan, Outcomes, answer_to, attack_for
from tests.bench.hostile_people import BACKGROUNDS, Crowd, exported, frames
from tests.bench.hostile_victims import ANSWER, Readings
from tests.bench.relay_pipeweb import Seat

STREAM = "/v1beta/models/some-model:streamGenerateContent?alt=sse"
FRAME_LIMIT = 2**20
"""Daphne's."""
NORMAL = Readings(firsts=[10.0] * 20, pages=[100.0] * 20)


def effect(during: Readings) -> Effect:
    return Effect("sqlite", "template map", NORMAL, during, {"begun": 3, "failed": 3}, 12.0)


def test_an_attack_may_double_what_others_wait_for() -> None:
    aims = effect(Readings(firsts=[20.0] * 20, pages=[200.0] * 20)).aims()
    assert not any(aim.is_missed for aim in aims)


@pytest.mark.parametrize(
    "during",
    [
        Readings(firsts=[21.0] * 20, pages=[100.0] * 20),
        Readings(firsts=[10.0] * 20, pages=[201.0] * 20),
        Readings(firsts=[10.0] * 20, pages=[100.0] * 20, faults=["page: 500"]),
        Readings(pages=[100.0] * 20),
    ],
)
def test_slower_failing_and_missing_answers_are_missed_aims(during: Readings) -> None:
    assert sum(aim.is_missed for aim in effect(during).aims()) == 1


@pytest.mark.parametrize(
    ("attack", "outcomes", "memory", "missed"),
    [
        ("endless answer", {"begun": 1, "unfinished": 1}, 300.0, 0),
        ("endless answer", {"refused": 900}, 0.0, 1),
        ("import turns", {"refused": 9}, 0.0, 1),
        ("import 42 MB", {}, 0.0, 1),
        ("gzip bomb", {"begun": 1}, 100.0, 0),
        ("gzip bomb", {"begun": 1}, 101.0, 1),
        ("poisoned rows", {"rows": 50, "still active": 0}, 0.0, 0),
        ("poisoned rows", {"rows": 50, "still active": 1}, 0.0, 1),
        ("poisoned rows", {"unfinished": 1}, 0.0, 1),
        ("20000 fields", {"403": 7}, 0.0, 1),
    ],
)
def test_an_attack_that_reached_nothing_or_took_too_much_is_a_missed_aim(
    attack: str, outcomes: dict[str, int], memory: float, missed: int
) -> None:
    aims = Effect("sqlite", attack, NORMAL, NORMAL, outcomes, memory).aims()
    assert sum(aim.is_missed for aim in aims) == missed


def test_every_attack_has_an_aim_of_its_own() -> None:
    assert EXPECTED.keys() == ATTACKS.keys()
    assert all(one.reaches or one.never for name, one in EXPECTED.items() if name != "nothing")


def test_a_line_names_the_attack_and_what_came_of_it() -> None:
    assert effect(NORMAL).line.split()[:3] == ["sqlite", "template", "map"]
    assert effect(NORMAL).line.endswith("3 failed")


def test_an_unknown_attack_is_named() -> None:
    with pytest.raises(PipewebError, match="template nap"):
        hostile.run({"attacks": ["template nap"], "databases": None, "seconds": 1.0}, print)


def test_every_template_has_an_attack() -> None:
    assert {f"template {name}" for name in BACKGROUNDS} <= ATTACKS.keys()


async def test_an_attack_is_repeated_until_its_time_is_over() -> None:
    async def attack(plan: AttackPlan, outcomes: Outcomes) -> None:
        outcomes["done"] += 1
        await asyncio.sleep(0.01 if outcomes["done"] < 3 else 60)

    seat = Seat("", "")
    found = await attack_for(AttackPlan(0, Crowd({}, {}, seat, []), "", 0.2), attack)
    assert found == {"done": 3, "unfinished": 1}


def test_a_file_to_import_is_one_branch() -> None:
    file = orjson.loads(exported(iter(["a", "b"])))
    first, second = file["turns"]
    assert (first["parent"], second["parent"], file["session"]["head"]) == (None, first["key"], second["key"])


def test_frames_are_below_and_above_what_the_server_takes() -> None:
    small, *larger, nonsense, binary = frames()
    assert len(small) < FRAME_LIMIT < min(map(len, larger)) and max(map(len, larger)) > 20_000_000
    assert all(orjson.loads(one)["type"] == "send" for one in (small, *larger))
    assert isinstance(binary, bytes) and max(len(nonsense), len(binary)) < FRAME_LIMIT


async def test_what_the_server_says_to_a_frame_is_counted() -> None:
    async def answer(socket: ServerConnection) -> None:
        async for frame in socket:
            for name in ("started", "finished") if frame == "go" else ("refused",):
                status = {"status": "completed"} if name == "finished" else {}
                await socket.send(orjson.dumps({"type": name} | status).decode())

    outcomes: Outcomes = Counter()
    async with serve(answer, "127.0.0.1", 0, max_size=FRAME_LIMIT) as server:
        port = server.sockets[0].getsockname()[1]
        for frame in ("go", b"no", "x" * (FRAME_LIMIT + 1)):
            async with connect(f"ws://127.0.0.1:{port}") as socket:
                outcomes[await answer_to(socket, frame, outcomes)] += 1
    assert outcomes == {"begun": 1, "completed": 1, "refused": 1, "closed": 1}


def test_poisoned_rows_are_abandoned_from_the_beginning(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session.objects.create(owner=alice)
    monkeypatch.setattr(hostile_rows, "set_up_django", bool)
    monkeypatch.setattr(hostile_rows, "POISONED_ROWS", 3)
    hostile_rows.poison_rows(str(session.public))
    assert Run.objects.abandoned().count() == hostile_rows.count_active_rows() == 3
    Run.objects.update(status=Run.Status.INTERRUPTED)
    assert hostile_rows.count_active_rows() == 0


def test_an_accepted_import_is_told_from_a_refused_one(client: Client) -> None:
    files = (SimpleUploadedFile("one.json", content) for content in (exported(iter(["a", "b"])), b"{}"))
    answers = [client.post("/sessions/import/", {"file": one}, headers=HTMX) for one in files]
    assert [ACCEPTED_HEADER in answer.headers for answer in answers] == [True, False]


@pytest.fixture
async def upstream() -> AsyncIterator[httpx2.AsyncClient]:
    answering: list[asyncio.Task[None]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = answer_requests(reader, writer, hostile_upstream.answer)
        answering.append(asyncio.create_task(answer))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with httpx2.AsyncClient(base_url=base, trust_env=False) as client:
            yield client
        await asyncio.gather(*answering)


async def test_without_an_order_it_answers_as_a_provider(upstream: httpx2.AsyncClient) -> None:
    answer = await upstream.post(STREAM, content=ANSWER.message.encode())
    assert answer.content.count(b"data: ") == ANSWER.chunks + 1


async def test_a_deep_call_is_as_deep_as_it_says(upstream: httpx2.AsyncClient) -> None:
    answer = await upstream.post(STREAM, content=b"poison=deep")
    assert answer.content.count(b'{"a":') == hostile_upstream.DEPTH


async def test_a_long_list_is_one_text_of_a_megabyte(upstream: httpx2.AsyncClient) -> None:
    answer = await upstream.post(STREAM, content=b"poison=list")
    events = answer.content.strip().split(b"\r\n\r\n")
    reply = fold(event.removeprefix(b"data: ") for event in events)
    assert reply.outcome is Outcome.COMPLETE and len(reply.text) == 1_000_000
    assert set(reply.text.splitlines()) == {"- a"}


async def test_an_endless_answer_goes_on_until_the_reader_leaves(upstream: httpx2.AsyncClient) -> None:
    read = 0
    async with upstream.stream("POST", STREAM, content=b"poison=endless") as answer:
        async for packet in answer.aiter_bytes():
            read += len(packet)
            if read > 1_000_000:
                break
    assert read > 1_000_000


async def test_a_call_asks_for_a_tool(upstream: httpx2.AsyncClient) -> None:
    answer = await upstream.post(STREAM, content=b"poison=calls")
    assert fold([answer.content.removeprefix(b"data: ").strip()]).outcome is Outcome.CALLS


def test_a_bomb_is_small_until_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile_upstream, "BOMB_SIZE", 3_000_000)
    hostile_upstream.bomb.cache_clear()
    packed = hostile_upstream.bomb()
    hostile_upstream.bomb.cache_clear()
    assert len(packed) < 10_000 and len(gzip.decompress(packed)) > 2_900_000
