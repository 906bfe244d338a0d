"""Requests and answers pass byte for byte; what Pipeweb does itself says so."""

import asyncio
import json
import threading
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.db import OperationalError
from django.utils import timezone

from sessions_app.capture import addresses, exchange, incoming, lookups, relay
from sessions_app.capture.addresses import KnownAddress
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused
from tests.capture.relaying import ADDRESS, BASE, GENERATE, PROVIDER, Bench, Pieces, answering, failing

KEY = ("x-goog-api-key", "secret-key")


async def test_bytes_pass_unchanged_in_both_directions() -> None:
    body, pieces = b'{ "contents" : "\xc3\xa9\xff" }', (b"data: {", b'"a"', b": 1}\n\n")
    bench = Bench(answering(*pieces, content_type="text/event-stream"))
    answer = await bench.ask(body=(body[:7], body[7:]), query=b"alt=sse&%24x=%2F", headers=[KEY])
    assert (answer.status, tuple(answer.pieces), answer.is_whole) == (200, pieces, True)
    assert bench.provider.bodies == [body]
    assert str(bench.provider.requests[0].url) == f"{PROVIDER}{GENERATE}?alt=sse&%24x=%2F"
    assert bench.provider.requests[0].headers["x-goog-api-key"] == "secret-key"


async def test_a_header_passes_in_the_bytes_that_came() -> None:
    bench = Bench(answering(b"x"))
    await bench.ask(headers=[("X-Goog-Upload-File-Name", "Bücher\t€.pdf")])
    assert (b"x-goog-upload-file-name", "Bücher\t€.pdf".encode()) in bench.provider.requests[0].headers.raw


async def test_what_was_relayed_is_recorded_without_its_key() -> None:
    bench = Bench(answering(b"ab", b"c", content_type="text/event-stream", retry_after="3"))
    await bench.ask(query=b"key=secret-key", headers=[KEY, ("User-Agent", "client/1"), ("Cookies", "x")])
    (begun,), (ended,) = bench.recorded()
    assert (begun.path, begun.client, begun.body) == (f"{GENERATE}?key=…", "client/1", b"{}")
    assert begun.model == "gemini-3-flash-preview" and begun.asks_model
    assert (ended.body, ended.size, ended.status, ended.fault) == (b"abc", 3, 200, "")
    assert [size for _, size in ended.packets] == [2, 1] and ended.first_ms is not None
    assert ["retry-after", "3"] in ended.headers
    assert "secret-key" not in repr(begun) + repr(ended)


async def test_errors_of_the_provider_pass_as_they_are() -> None:
    bench = Bench(answering(b'{"error":1}', status=429, retry_after="17", content_type="application/json"))
    answer = await bench.ask()
    assert (answer.status, answer.body, answer.headers["retry-after"]) == (429, b'{"error":1}', "17")
    assert "x-pipeweb" not in answer.headers


async def test_nothing_is_asked_again() -> None:
    bench = Bench(answering(status=503))
    await bench.ask()
    assert len(bench.provider.requests) == 1


async def test_an_address_for_an_upload_leads_through_the_relay() -> None:
    url = f"{PROVIDER}/upload/v1beta/files?upload_id=AbC&upload_protocol=resumable"
    bench = Bench(answering(x_goog_upload_url=url))
    answer = await bench.ask("/upload/v1beta/files")
    own = f"http://127.0.0.1:8000{BASE}/upload/v1beta/files?upload_id=AbC&upload_protocol=resumable"
    assert answer.headers["x-goog-upload-url"] == own
    await bench.ask("/upload/v1beta/files", body=(b"x" * 9, b"y"), query=b"upload_id=AbC")
    assert bench.provider.bodies[-1] == b"x" * 9 + b"y"
    begun, ended = bench.recorded()
    assert begun[-1].path.endswith("upload_id=…") and begun[-1].body is None
    assert ended[-1].request_size == 10, "a file is counted, not kept"


@pytest.mark.parametrize(
    ("error", "status", "fault"),
    [
        (httpx2.ConnectError("no"), 502, "not_reached"),
        (httpx2.ConnectTimeout("no"), 502, "not_reached"),
        (httpx2.ReadError("no"), 502, "not_answered"),
        (httpx2.RemoteProtocolError("no"), 502, "not_answered"),
        (RelayRefused(CaptureFault.NO_ANSWER), 504, "no_answer"),
    ],
)
async def test_our_own_faults_look_like_googles_and_are_marked(error: Any, status: int, fault: str) -> None:
    bench = Bench(failing(error))
    answer = await bench.ask()
    assert (answer.status, answer.headers["x-pipeweb"]) == (status, fault)
    assert json.loads(answer.body)["error"]["code"] == status
    assert bench.recorded()[1][0].fault == fault


async def test_an_answer_that_breaks_in_the_middle_is_broken_off_for_the_program_too() -> None:
    bench = Bench(answering(b"data: 1", httpx2.ReadError("reset")))
    answer = await bench.ask()
    assert answer.body == b"data: 1" and not answer.is_whole and bench.broken_off == 1
    assert bench.recorded()[1][0].fault == "broken_off"


async def test_a_program_that_leaves_ends_the_request_to_the_provider() -> None:
    leaves = asyncio.Event()
    stream = Pieces([b"data: 1"], hold=asyncio.Event())

    async def play(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=stream)

    bench = Bench(play)
    await asyncio.wait_for(bench.ask(leaves=leaves, on_piece=lambda _: leaves.set()), 10)
    assert stream.is_closed
    (ended,) = bench.recorded()[1]
    assert (ended.fault, ended.body) == ("client_left", b"data: 1")


async def test_an_answer_of_known_length_is_recorded_before_the_last_of_it_leaves() -> None:
    """A program that has all of it asks again at once, and that is recorded behind it."""
    bench = Bench(answering(b"half", b"rest", content_length="8"))
    seen: list[tuple[bytes, list[bytes]]] = []
    await bench.ask(on_piece=lambda piece: seen.append((piece, [one.body for one in bench.recorded()[1]])))
    assert seen == [(b"half", []), (b"rest", [b"halfrest"])]


async def test_a_program_that_leaves_with_the_whole_answer_has_left_nothing() -> None:
    leaves = asyncio.Event()
    stream = Pieces([b"whole"], hold=asyncio.Event())

    async def play(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"Content-Length": "5"}, stream=stream)

    bench = Bench(play)
    await asyncio.wait_for(bench.ask(leaves=leaves, on_piece=lambda _: leaves.set()), 10)
    (ended,) = bench.recorded()[1]
    assert stream.is_closed and (ended.fault, ended.body) == ("", b"whole")


async def test_a_paused_address_relays_and_records_nothing() -> None:
    bench = Bench(answering(b"x"), replace(ADDRESS, is_paused=True))
    assert (await bench.ask()).body == b"x"
    assert (await bench.ask("/nothing")).status == 404
    assert bench.recorded() == ([], [])


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        (None, "unknown_address"),
        (replace(ADDRESS, is_revoked=True), "revoked"),
        (replace(ADDRESS, expires_at=timezone.now() - timedelta(1)), "expired"),
    ],
)
async def test_an_address_that_is_over_reaches_nobody(address: Any, fault: str) -> None:
    bench = Bench(answering(b"x"), address)
    answer = await bench.ask()
    assert (answer.status, answer.headers["x-pipeweb"]) == (401, fault)
    assert not bench.provider.requests
    assert [one.fault for one in bench.recorded()[1]] == ([fault] if address else [])


@pytest.mark.parametrize(
    ("call", "status", "fault"),
    [
        ({"path": "/nothing"}, 404, "wrong_path"),
        ({"path": ""}, 404, "wrong_path"),
        ({"path": "/v1beta/../../x"}, 404, "wrong_path"),
        ({"path": "/v1beta/%2e%2e/x"}, 404, "wrong_path"),
        ({"method": "CONNECT"}, 404, "wrong_method"),
        ({"method": "HEAD"}, 404, "wrong_method"),
        ({"path": "/v1beta/models\x7f"}, 400, "control_character"),
        ({"query": b"a=\x7f"}, 400, "control_character"),
        ({"headers": [("X-Odd", "a\x01b")]}, 400, "control_character"),
        ({"path": "/ws/google.ai"}, 501, "live"),
        ({"method": "GET", "headers": [("Sec-WebSocket-Key", "eA==")]}, 501, "live"),
        ({"headers": [("Origin", "http://127.0.0.1:8000")]}, 403, "from_browser"),
        ({"headers": [("Cookie", "a=b")]}, 403, "from_browser"),
        ({"client": ("192.0.2.1", 5)}, 403, "from_elsewhere"),
        ({"client": None}, 403, "from_elsewhere"),
        ({"headers": [("X-Forwarded-For", "192.0.2.1")]}, 403, "from_elsewhere"),
    ],
)
async def test_what_is_refused_never_reaches_the_provider(call: Any, status: int, fault: str) -> None:
    bench = Bench(answering(b"x"))
    answer = await bench.ask(**call)
    assert (answer.status, answer.headers["x-pipeweb"]) == (status, fault)
    assert not bench.provider.requests
    assert bench.recorded()[1][0].fault == fault


async def test_node_sends_a_header_of_browsers_and_is_no_browser() -> None:
    bench = Bench(answering(b"x"))
    assert (await bench.ask(headers=[("Sec-Fetch-Mode", "cors")])).status == 200


async def test_a_cookie_that_is_empty_is_of_no_browser() -> None:
    bench = Bench(answering(b"x"))
    assert (await bench.ask(headers=[("Cookie", "")])).status == 200
    assert "cookie" not in bench.provider.requests[0].headers


async def test_programs_of_the_network_are_let_in_where_that_is_set(settings: Any) -> None:
    settings.PIPEWEB_CAPTURE = "network"
    bench = Bench(answering(b"x"))
    assert (await bench.ask(client=("192.0.2.1", 5))).status == 200
    settings.PIPEWEB_CAPTURE = "off"
    assert (await bench.ask()).headers["x-pipeweb"] == "switched_off"


async def test_another_host_is_refused(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["pipeweb.example"]
    assert (await Bench(answering(b"x")).ask()).headers["x-pipeweb"] == "wrong_host"


async def test_bodies_and_answers_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "BODY_LIMIT", 4)
    monkeypatch.setattr(exchange, "ANSWER_LIMIT", 4)
    bench = Bench(answering(b"123", b"45"))
    assert (await bench.ask(body=b"12345")).status == 413
    answer = await bench.ask(body=b"1234")
    assert answer.body == b"123" and not answer.is_whole and bench.broken_off == 1
    refused, cut = bench.recorded()[1]
    assert (refused.fault, cut.fault, cut.is_cut) == ("request_too_large", "answer_too_large", True)


async def test_no_more_requests_run_at_once_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "AT_ONCE_OF_ONE", 1)
    hold, has_begun = asyncio.Event(), asyncio.Event()

    async def play(request: httpx2.Request) -> httpx2.Response:
        has_begun.set()
        await hold.wait()
        return httpx2.Response(200)

    bench = Bench(play)
    first = asyncio.ensure_future(bench.ask())
    await has_begun.wait()
    assert (await bench.ask()).headers["x-pipeweb"] == "too_many"
    hold.set()
    assert (await first).status == 200
    assert (await bench.ask()).status == 200


def away(token_hash: str) -> None:
    raise OperationalError("database is locked")


async def test_a_database_that_is_away_is_no_reason_to_refuse_who_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addresses, "REMEMBERED_SECONDS", 0.0)
    bench = Bench(answering(b"x"))
    assert (await bench.ask()).status == 200
    bench.find = away
    assert (await bench.ask()).status == 200
    stranger = Bench(answering(b"x"))
    stranger.find = away
    answer = await stranger.ask()
    assert (answer.status, answer.headers["x-pipeweb"]) == (503, "unchecked")


async def test_a_database_that_hangs_holds_nobody_up_who_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "REMEMBERED_SECONDS", 0.0)
    monkeypatch.setattr(lookups, "WAIT_SECONDS", 0.05)
    bench, answers = Bench(answering(b"x")), threading.Event()
    await bench.ask()

    def hanging(token_hash: str) -> KnownAddress:
        answers.wait(30)
        return replace(ADDRESS, is_revoked=True)

    bench.find = hanging
    assert [(await bench.ask()).status for _ in range(3)] == [200] * 3
    answers.set()
    await asyncio.sleep(0.2)
    assert (await bench.ask()).headers["x-pipeweb"] == "revoked", "what was read at last counts"


async def test_a_request_came_before_its_address_was_looked_up() -> None:
    bench = Bench(answering(b"x"))

    def slow(token_hash: str) -> KnownAddress:
        time.sleep(0.2)
        return ADDRESS

    bench.find = slow
    await bench.ask()
    (begun,), (ended,) = bench.recorded()
    assert ended.total_ms is not None and ended.total_ms >= 200
    assert (ended.ended_at - begun.received_at).total_seconds() * 1000 == pytest.approx(
        ended.total_ms, abs=50
    )


async def test_a_session_is_named_by_header_or_path() -> None:
    bench = Bench(answering(b"x"))
    await bench.ask(headers=[("X-Pipeweb-Session", "loaf")])
    await bench.ask(f"/s/bread%20rolls{GENERATE}")
    assert [one.name for one in bench.recorded()[0]] == ["loaf", "bread rolls"]
    assert not any("x-pipeweb-session" in one.headers for one in bench.provider.requests)
    assert bench.provider.requests[1].url.path.startswith("/base/v1beta/")
