"""An address with the server's key: it replaces the program's, within the owner's budgets."""

import asyncio
import zlib
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import OperationalError
from django.utils import timezone

from sessions_app.capture import server_key
from sessions_app.capture.headers import keyed_hash
from sessions_app.capture.recording import Recording
from sessions_app.capture.server_key import Grant, read_grant
from sessions_app.error_codes import CaptureFault
from sessions_app.models import Allowance, PersonalLimits, Reservation, Spending
from sessions_app.prompt.pricing import MoneySource
from tests.capture.relaying import ADDRESS, GENERATE, Bench, answering
from tests.prices import make_price

WITH_KEY = replace(ADDRESS, uses_server_key=True)
GRANT = Grant("server-key", 8)
BODY = b'{"contents":[{"parts":[{"text":"x"}]}]}'


def bench_with(found: Grant | CaptureFault = GRANT) -> Bench:
    return Bench(answering(b"x"), WITH_KEY, lambda owner: found)


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        (b"", []),
        (b"", [("X-Goog-Api-Key", "client-key")]),
        (b"", [("Authorization", "Bearer client-key"), ("X-Goog-Api-Key", "client-key")]),
        (b"key=client-key&", []),
        (b"%6bey=client-key&access_token=client-key&$key=client-key&", []),
    ],
)
async def test_whatever_key_a_program_sends_the_servers_goes_out(
    query: bytes, headers: Any, settings: Any
) -> None:
    bench = bench_with()
    await bench.ask(query=query + b"alt=sse&x=%2F", headers=headers)
    (sent,) = bench.provider.requests
    assert sent.url.query == b"alt=sse&x=%2F"
    assert sent.headers.get_list("x-goog-api-key") == ["server-key"]
    assert "client-key" not in str(sent.url) + repr(sent.headers.raw)
    (begun,), _ = bench.recorded()
    assert begun.uses_server_key and begun.key_hash == keyed_hash("server-key", settings.SECRET_KEY)


async def test_without_it_the_programs_key_goes_out_and_two_keys_can_be_told_apart(settings: Any) -> None:
    bench = Bench(answering(b"x"))
    await bench.ask(headers=[("X-Goog-Api-Key", "a")])
    await bench.ask(query=b"key=a")
    await bench.ask(headers=[("Authorization", "Bearer a")])
    await bench.ask(headers=[("X-Goog-Api-Key", "b")])
    await bench.ask()
    hashes = [one.key_hash for one in bench.recorded()[0]]
    assert hashes[:3] == [keyed_hash("a", settings.SECRET_KEY)] * 3
    assert hashes[3] not in (*hashes[:3], "") and hashes[4] == "" and len(hashes[3]) == 16
    assert not any(one.uses_server_key for one in bench.recorded()[0])


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (CaptureFault.OVER_BUDGET, 429),
        (CaptureFault.NO_SERVER_KEY, 401),
        (CaptureFault.NO_ALLOWANCE, 403),
    ],
)
async def test_what_may_not_be_spent_is_never_sent(fault: CaptureFault, status: int) -> None:
    bench = bench_with(fault)
    answer = await bench.ask()
    assert (answer.status, answer.headers["x-pipeweb"]) == (status, fault.value)
    assert not bench.provider.requests
    (begun,), (ended,) = bench.recorded()
    assert ended.fault == fault and not begun.uses_server_key


async def test_where_a_budget_cannot_be_checked_nothing_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_key, "REMEMBERED_SECONDS", 0.0)
    found: list[Grant | None] = [GRANT, None]

    def read(owner: int) -> Grant:
        if (grant := found.pop(0)) is None:
            raise OperationalError("away")
        return grant

    bench = Bench(answering(b"x"), WITH_KEY, read)
    assert [(await bench.ask()).headers.get("x-pipeweb") for _ in range(2)] == [None, "budget_unchecked"]
    assert len(bench.provider.requests) == 1


async def test_a_budget_is_read_once_for_calls_of_some_seconds() -> None:
    owners: list[int] = []

    def read(owner: int) -> Grant:
        owners.append(owner)
        return GRANT

    bench = Bench(answering(b"x"), WITH_KEY, read)
    for _ in range(5):
        await bench.ask()
    assert owners == [WITH_KEY.owner]


async def test_a_person_has_no_more_calls_under_way_than_runs() -> None:
    hold, has_begun = asyncio.Event(), asyncio.Event()

    async def play(request: httpx2.Request) -> httpx2.Response:
        has_begun.set()
        await hold.wait()
        return httpx2.Response(200)

    bench = Bench(play, WITH_KEY, lambda owner: Grant("server-key", 1))
    first = asyncio.ensure_future(bench.ask())
    await has_begun.wait()
    assert (await bench.ask()).headers["x-pipeweb"] == "too_many"
    hold.set()
    assert (await first).status == (await bench.ask()).status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1beta/files"),
        ("GET", "/v1beta/cachedContents"),
        ("GET", "/v1beta/cachedContents/"),
        ("GET", "/v1beta/batches"),
        ("POST", "/v1beta/cachedContents"),
        ("POST", "/v1beta/interactions"),
        ("POST", "/v1beta/openai/chat/completions"),
        ("POST", "/v1beta/models/gemini-3-flash-preview:batchGenerateContent"),
        ("POST", "/v1beta/models/gemini-embedding-001:embedContent"),
        ("GET", "/v1beta/files%2f"),
        ("DELETE", "/v1beta/tunedModels/x"),
        ("GET", "/v1beta/openai/files"),
    ],
)
async def test_what_no_budget_counts_and_what_others_made_is_refused(method: str, path: str) -> None:
    bench = bench_with()
    answer = await bench.ask(path, method=method)
    assert (answer.status, answer.headers["x-pipeweb"]) == (403, "not_with_server_key")
    assert not bench.provider.requests
    assert (await Bench(answering(b"x")).ask(path, method=method)).status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", GENERATE),
        ("POST", "/v1/models/gemini-3-flash-preview:countTokens"),
        ("GET", "/models"),
        ("GET", "/v1beta/models/gemini-3-flash-preview"),
        ("POST", "/upload/v1beta/files"),
        ("PUT", "/upload/v1beta/files"),
        ("GET", "/v1beta/files/abc"),
        ("DELETE", "/v1beta/files/abc"),
    ],
)
async def test_what_programs_ask_for_goes_out_with_it(method: str, path: str) -> None:
    bench = bench_with()
    assert (await bench.ask(path, method=method)).status == 200
    assert bench.provider.requests[0].headers["x-goog-api-key"] == "server-key"


@pytest.fixture
def budget(transactional_db: None, alice: User) -> Allowance:
    make_price("gemini-3-flash-preview")
    return Allowance.objects.create(owner=alice, usd_per_day=Decimal("0.1"))


async def test_calls_beside_each_other_reserve_what_they_may_cost(budget: Allowance, alice: User) -> None:
    hold, has_begun = asyncio.Event(), asyncio.Event()

    async def play(request: httpx2.Request) -> httpx2.Response:
        has_begun.set()
        await hold.wait()
        return httpx2.Response(200)

    of_alice = replace(WITH_KEY, owner=alice.pk)
    bench = Bench(play, of_alice, lambda owner: Grant("server-key", 8, has_budget=True))
    first = asyncio.ensure_future(bench.ask())
    await has_begun.wait()
    assert (await bench.ask()).headers["x-pipeweb"] == "budget_held"
    hold.set()
    assert (await first).status == 200
    ended = bench.recorded()[1][-1]
    assert ended.reservation and await Reservation.objects.filter(pk=ended.reservation).aexists()
    await sync_to_async(Recording())([ended])
    assert not await Reservation.objects.aexists()
    await bench.relay.close()


async def test_what_would_not_be_booked_is_not_spent(budget: Allowance, alice: User) -> None:
    grant = Grant("server-key", 8, has_budget=True)
    paused = replace(WITH_KEY, owner=alice.pk, is_paused=True)
    bench = Bench(answering(b"x"), paused, lambda owner: grant)
    assert (await bench.ask()).headers["x-pipeweb"] == "not_booked"
    full = Bench(answering(b"x"), replace(WITH_KEY, owner=alice.pk), lambda owner: grant)
    full.recorder.begin = lambda begun: False  # type: ignore[method-assign]
    assert (await full.ask()).headers["x-pipeweb"] == "not_booked"
    assert not full.provider.requests and not await Reservation.objects.aexists()
    for one in (bench, full):
        await one.relay.close()


@pytest.mark.parametrize(
    ("body", "packing"),
    [
        (zlib.compress(BODY), "gzip"),
        (BODY, "gzip"),
        (b"{contents: [{'parts': [{'text': 'x'}]}]}", ""),
        (b'{"contents":[{"parts":[' + b"{}," * 100_000 + b"{}]}]}", ""),
        (b"\x0a\x03abc", "identity"),
    ],
    ids=["packed", "said to be packed", "lenient", "too many objects", "protobuf"],
)
async def test_what_cannot_be_read_and_so_not_booked_is_not_sent(body: bytes, packing: str) -> None:
    bench = bench_with()
    headers = [("Content-Encoding", packing)]
    refused = await bench.ask(body=body, headers=headers)
    assert (refused.status, refused.headers["x-pipeweb"]) == (400, "not_read")
    assert [one.fault for one in bench.recorded()[1]] == ["not_read"]
    assert (await bench.ask(body=BODY)).status == 200
    assert len(bench.provider.requests) == 1
    assert (await Bench(answering(b"x")).ask(body=body, headers=headers)).status == 200


@pytest.mark.parametrize(
    ("query", "is_sent"),
    [
        (b"alt=sse", True),
        (b"%24alt=json%3Benum-encoding%3Dint&prettyPrint=false", True),
        (b"alt=proto", False),
        (b"alt=json&$Alt=media", False),
        (b"%61lt=proto", False),
        (b"$callback=f", False),
    ],
)
async def test_what_would_be_answered_in_another_form_is_not_sent(query: bytes, is_sent: bool) -> None:
    bench = bench_with()
    assert (await bench.ask(body=BODY, query=query)).headers.get("x-pipeweb") == (
        None if is_sent else "not_read"
    )
    assert len(bench.provider.requests) == is_sent
    assert (await Bench(answering(b"x")).ask(body=BODY, query=query)).status == 200


@pytest.mark.parametrize("body", [b'{"cachedContent":"c"}', b'{"generationConfig":{"candidateCount":8}}'])
def test_what_a_call_may_read_or_write_beyond_its_body_is_reserved(
    budget: Allowance, alice: User, body: bytes
) -> None:
    kept = []
    for one in (b"{" + b" " * len(body) + b"}", body):
        server_key.reserve_call(alice.pk, "gemini-3-flash-preview", one, server_key.PAID_ROUTE)
        kept.append(Reservation.objects.get().usd)
        Reservation.objects.all().delete()
    assert kept[1] > 2 * kept[0]


@pytest.mark.django_db
class TestGrant:
    def test_it_is_the_key_of_the_installation(self, alice: User, settings: Any) -> None:
        settings.GEMINI_API_KEY = "AIza-" + "x" * 30
        assert read_grant(alice.pk) == Grant(settings.GEMINI_API_KEY, 8)
        settings.GEMINI_API_KEY = ""
        assert read_grant(alice.pk) == CaptureFault.NO_SERVER_KEY

    def test_a_spent_budget_stops_it(self, alice: User, settings: Any) -> None:
        settings.GEMINI_API_KEY = "AIza-" + "x" * 30
        Allowance.objects.create(owner=alice, usd_per_month=Decimal(2))
        spent = Spending.objects.create(
            owner=alice,
            day=timezone.now().date(),
            model="m",
            source=MoneySource.PROVIDER.value,
            usd=Decimal("1.99"),
        )
        assert isinstance(read_grant(alice.pk), Grant)
        spent.usd = Decimal(2)
        spent.save()
        assert read_grant(alice.pk) == CaptureFault.OVER_BUDGET

    @pytest.mark.parametrize("limit", ["runs_at_once", "sends_per_minute"])
    def test_who_may_ask_nothing_here_has_none(self, alice: User, settings: Any, limit: str) -> None:
        settings.GEMINI_API_KEY = "AIza-" + "x" * 30
        PersonalLimits.objects.create(user=alice, **{limit: 0})
        assert read_grant(alice.pk) == CaptureFault.NO_ALLOWANCE
