"""When an imported answer came: as far as its file tells."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.capture.har_imports import import_har
from sessions_app.chat.steps import thoughts_label
from sessions_app.exchange_sums import cost_of
from sessions_app.inspector.har import har
from sessions_app.inspector.tabs.stream_tab import StreamTab, StreamTimeline
from sessions_app.models import CapturedRequest, Exchange
from tests.capture.answers import event
from tests.capture.har_files import archive, devtools_entry
from tests.factories import text_chunk

pytestmark = pytest.mark.django_db

ANSWER = event(text_chunk("Hm.", thought=True)) + event(text_chunk("Double it.", finish="STOP"))
PACKETS = [[130.0, 10], [470.0, len(ANSWER) - 10]]


def imported(owner: User, **of_answer: Any) -> Exchange:
    entry = devtools_entry()
    entry["response"]["content"] = {"size": len(ANSWER), "mimeType": "", "text": ANSWER.decode()}
    entry["response"] |= of_answer
    import_har(owner.pk, "talk.har", archive(entry))
    return Exchange.objects.select_related("session", "run").get()


def stream(exchange: Exchange) -> StreamTimeline:
    return StreamTab().context(exchange, raw=False)


def test_without_packets_only_the_first_byte_has_a_time(alice: User, client: Client) -> None:
    exchange = imported(alice)
    assert (exchange.first_chunk_ms, exchange.thought_ms, exchange.total_ms) == (120.5, None, 480.5)
    shown = stream(exchange)
    assert [(one.ms, one.gap) for one in shown.arrivals] == [(None, None)] * 2
    assert (shown.longest_gap, shown.stalls, shown.marks) == (None, [], [])
    pages = {
        tab: client.get(f"{exchange.get_absolute_url()}?tab={tab}").content for tab in ("stream", "wire")
    }
    assert b"the imported file has no times of chunks" in pages["stream"]
    assert not any(b"480 ms \xc2\xb7" in page for page in pages.values())
    assert thoughts_label(exchange.thought_ms) == "Thoughts"


def test_packets_tell_when_the_chunks_came(alice: User) -> None:
    exchange = imported(alice, _packets=PACKETS)
    assert (exchange.first_chunk_ms, exchange.thought_ms) == (470.0, 470.0)
    assert [one.ms for one in stream(exchange).arrivals] == [470.0, 470.0]


@pytest.mark.parametrize("packets", [[], PACKETS])
def test_only_what_was_recorded_is_exported_as_packets(alice: User, packets: list[Any]) -> None:
    exchange = imported(alice, _packets=packets)
    (entry,) = json.loads(json.dumps(har(exchange)))["log"]["entries"]
    assert entry["response"].get("_packets", []) == packets
    assert sum(size for _, size in packets) in (0, entry["response"]["content"]["size"])


def test_an_answer_without_any_time_has_come_all_the_same(alice: User) -> None:
    entry = devtools_entry(time=None, timings={"receive": -1})
    body = event(text_chunk("Double it.", finish="STOP", usage={"promptTokenCount": 9, "totalTokenCount": 9}))
    entry["response"]["content"] = {"text": body.decode()}
    import_har(alice.pk, "talk.har", archive(entry))
    exchange = Exchange.objects.get()
    assert exchange.first_chunk_ms is None and CapturedRequest.objects.get().total_ms is None
    exchange.usd = None
    assert "price is unknown" in cost_of(exchange).title
