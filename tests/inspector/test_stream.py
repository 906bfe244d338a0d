import orjson
import pytest
from django.test import Client

from sessions_app.inspector.tabs.stream_tab import StreamTab, StreamTimeline
from sessions_app.models import Exchange, RawChunk, Session
from tests.factories import USAGE, call_chunk, chunk, make_exchange, make_run, text_chunk
from tests.inspector.reading import read


def stream(exchange: Exchange) -> StreamTimeline:
    return StreamTab().context(exchange, raw=False)


@pytest.fixture
def exchange(session: Session) -> Exchange:
    bodies = [
        text_chunk("Hm.", thought=True),
        call_chunk("check_flight", {}, signature=b"s"),
        text_chunk("", finish="STOP", usage=USAGE),
    ]
    return make_exchange(make_run(session), bodies)


def test_each_chunk_says_what_it_brought(exchange: Exchange) -> None:
    kinds = [arrival.kinds for arrival in stream(exchange).arrivals]
    assert kinds == [("thought",), ("call", "signature"), ("usage", "end")]


def test_each_chunk_has_its_time_and_its_gap(exchange: Exchange) -> None:
    assert [(arrival.ms, arrival.gap) for arrival in stream(exchange).arrivals] == [
        (120, 120),
        (200, 80),
        (280, 80),
    ]


def test_a_pause_is_marked(client: Client, exchange: Exchange) -> None:
    RawChunk.objects.filter(exchange=exchange, seq=2).update(ms=2000)
    assert [arrival.seq for arrival in stream(exchange).stalls] == [2]
    assert "1 pause of a second or more." in read(client, exchange, "stream")


def test_only_the_last_chunk_counts_for_usage(session: Session) -> None:
    bodies = [text_chunk("a", usage=USAGE), text_chunk("b", usage=USAGE)]
    kinds = [arrival.kinds for arrival in stream(make_exchange(make_run(session), bodies)).arrivals]
    assert kinds == [("text",), ("text", "usage")]


@pytest.mark.parametrize("end", [{"error": {"code": 500}}, {"usageMetadata": {"trafficType": "ON_DEMAND"}}])
def test_the_usage_that_counts_may_have_come_before_the_last_chunk(
    session: Session, end: dict[str, object]
) -> None:
    bodies = [text_chunk("a", usage=USAGE), orjson.dumps(end)]
    first, last = (arrival.kinds for arrival in stream(make_exchange(make_run(session), bodies)).arrivals)
    assert first == ("text", "usage") and "usage" not in last


def test_the_marks_lie_on_the_axis_in_their_lanes(exchange: Exchange) -> None:
    shown = stream(exchange)
    assert shown.lanes == ["thought", "call", "signature", "usage", "end"]
    assert all(0 <= mark.x <= 100 for mark in shown.marks)
    assert [(mark.kind, mark.lane) for mark in shown.marks][:2] == [("thought", 0), ("call", 1)]


def test_the_strip_is_told_in_words(client: Client, exchange: Exchange) -> None:
    words = "3 chunks in 480 ms: 1 with thought, 1 with call, 1 with signature, 1 with usage, 1 with end"
    assert words in read(client, exchange, "stream")


def test_our_own_time_stands_apart(client: Client, exchange: Exchange) -> None:
    page = read(client, exchange, "stream")
    assert "<dt>Built by us</dt><dd>3.2 ms</dd>" in page
    assert "<dt>First chunk</dt><dd>120 ms</dd>" in page


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b"7",
        b'{"candidates":{}}',
        b'{"candidates":[7]}',
        b'{"candidates":[{"content":{"parts":7}}]}',
        b'{"candidates":[{"content":{"parts":[7]}}]}',
        b"\xff\xfe",
    ],
)
def test_an_odd_chunk_is_still_a_row(session: Session, body: bytes) -> None:
    exchange = make_exchange(make_run(session), [])
    RawChunk.objects.create(exchange=exchange, seq=0, ms=1, body=body)
    assert [arrival.kinds for arrival in stream(exchange).arrivals] == [("other",)]


def test_an_error_in_the_stream_is_an_end(session: Session) -> None:
    body = orjson.dumps({"error": {"code": 500, "message": "Internal"}})
    exchange = make_exchange(make_run(session), [text_chunk("a"), body])
    assert stream(exchange).arrivals[1].kinds == ("end",)


def test_a_file_part_is_of_another_kind(session: Session) -> None:
    body = chunk({"inlineData": {"mimeType": "image/png", "data": "AA=="}})
    assert stream(make_exchange(make_run(session), [body])).arrivals[0].kinds == ("other",)


def test_no_chunk_is_no_strip(client: Client, session: Session) -> None:
    page = read(client, make_exchange(make_run(session), []), "stream")
    assert "No chunk arrived." in page
    assert "<figure" not in page
