import re

import orjson
import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.part_views import INLINE
from sessions_app.inspector.tabs.layers_tab import LayersTab
from sessions_app.models import Session
from tests.factories import answered, finish, make_exchange, make_history, make_run, play_flight, text_chunk
from tests.inspector.reading import read


def test_the_four_layers_stand_in_order(client: Client, session: Session) -> None:
    page = read(client, answered(session, "Hello", "Hi"))
    found = re.findall(r'<h2 id="layer-(\w+)"', page)
    assert found == ["static", "dynamic", "buffered", "trigger"]


def test_every_item_says_where_it_stands_on_the_wire(session: Session) -> None:
    _, second = play_flight(session)
    layers = LayersTab().context(second, raw=False)
    places = [item.place for layer in layers for item in layer.items]
    assert places[:2] == ["tools", "contents[0].parts[0]"]
    assert places[-3:] == ["contents[1]", "contents[2]", "contents[3]"]


def test_a_place_points_at_the_item_in_the_request(session: Session) -> None:
    _, second = play_flight(session)
    contents = orjson.loads(second.request_body())["contents"]
    trigger = LayersTab().context(second, raw=False)[-1].items[0]
    assert contents[int(trigger.place.removeprefix("contents[").removesuffix("]"))] == orjson.loads(
        second.sent_items()[-1].wire
    )


def test_cached_items_are_marked_and_have_no_place(session: Session) -> None:
    exchange = make_exchange(make_run(session), cache_name="cachedContents/abc")
    static, dynamic, *_ = LayersTab().context(exchange, raw=False)
    assert static.is_cached
    assert {item.place for item in static.items} == {""}
    assert not dynamic.is_cached


def test_a_call_shows_its_arguments_and_its_signature(client: Client, session: Session) -> None:
    _, second = play_flight(session)
    page = read(client, second)
    assert "Calls check_flight" in page
    assert "&quot;flight&quot;: &quot;AA100&quot;" in page
    assert "Answer of check_flight" in page
    assert "signature · 120 B" in page


def test_the_static_layer_is_readable_key_by_key(session: Session) -> None:
    session.background = "First line\nSecond line"
    session.save()
    exchange = make_exchange(make_run(session))
    outline = {part.title: part.text for part in LayersTab().context(exchange, raw=False)[0].outline}
    assert "  First line\n  Second line" in outline["session_goal"]


def test_the_raw_view_shows_the_bytes_of_each_item(session: Session) -> None:
    exchange = answered(session, 'Say "hi"', "Hi")
    items = [item for layer in LayersTab().context(exchange, raw=True) for item in layer.items]
    assert [item.parts[0].text for item in items] == [sent.wire.decode() for sent in exchange.sent_items()]


def test_a_long_text_is_shown_in_part_and_whole_on_request(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session, "x" * INLINE + "END-OF-TEXT"))
    assert "END-OF-TEXT" not in read(client, exchange)
    last = len(exchange.sent_items()) - 1
    whole = reverse("exchange-whole", args=[session.public, exchange.number, "item", last])
    assert whole in read(client, exchange)
    assert "END-OF-TEXT" in client.get(whole).content.decode()


def test_a_request_of_a_megabyte_stays_a_small_page(client: Client, session: Session) -> None:
    for number in range(12):
        answered(session, f"{number} " + "lorem ipsum " * 8000, "Noted.")
    exchange = make_exchange(make_run(session, "The question"))
    assert exchange.request_size > 1_000_000
    page = read(client, exchange)
    assert len(page) < 150_000
    assert "The question" in page


def test_an_unknown_item_does_not_exist(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    for what, index in (("item", 999), ("layer", 9), ("chunk", 99), ("nonsense", 0)):
        place = reverse("exchange-whole", args=[session.public, exchange.number, what, index])
        assert client.get(place).status_code == 404


def test_a_file_is_a_chip_and_not_its_bytes(session: Session) -> None:
    data = "QUJD" * 4000
    body = orjson.dumps(
        {"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}}]}
    )
    finish(make_exchange(make_run(session), [body, text_chunk("There.", finish="STOP")]).run)
    exchange = make_exchange(make_run(session, "And now?"))
    parts = [part for item in LayersTab().context(exchange, raw=False)[2].items for part in item.parts]
    assert [part.title for part in parts if part.kind == "inline_data"] == ["image/png, 12.0 kB"]
    assert not any("QUJD" in part.text for part in parts)


def test_old_turns_of_a_long_history_are_closed_and_read_when_opened(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.tabs.layers_tab.OPEN_ITEMS", 2)
    exchange = make_history(session, 4)[-1]
    buffered = LayersTab().context(exchange, raw=False)[2].items
    assert [item.is_closed for item in buffered] == [True, True, True, True, False, False]
    assert [item.signed for item in buffered] == [0, 1, 0, 1, 0, 1]
    whole = reverse("exchange-whole", args=[session.public, exchange.number, "item", buffered[0].position])
    page = read(client, exchange)
    assert "4 older turns" in page
    assert f'hx-get="{whole}"' in page
    assert "Question 0" in client.get(whole).content.decode()
