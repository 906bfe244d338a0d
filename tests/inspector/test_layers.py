import re

import orjson
import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.part_views import INLINE
from sessions_app.inspector.tabs.layers_tab import LayersTab
from sessions_app.models import Session
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine, BreakPlace
from tests.factories import answered, finish, make_exchange, make_history, make_run, play_flight, text_chunk
from tests.inspector.breaks import broken_exchange
from tests.inspector.reading import read


def test_the_four_layers_stand_in_order(client: Client, session: Session) -> None:
    page = read(client, answered(session, "Hello", "Hi"))
    found = re.findall(r'<h2 id="layer-(\w+)"', page)
    assert found == ["static", "dynamic", "buffered", "trigger"]


def test_a_turn_is_called_by_its_number_on_its_branch(session: Session) -> None:
    answered(session, "Hello", "Hi")
    _, second = play_flight(session)
    layers = LayersTab().context(second, raw=False)
    names = [item.name for layer in layers for item in layer.items]
    assert names[:2] == ["Tool declarations", "Static template"]
    assert names[-5:] == [f"Turn {number}" for number in range(1, 6)]
    assert [part.place for part in layers[-1].items[-1].parts] == ["part 1"]


def test_the_chat_calls_the_turns_by_the_same_numbers(client: Client, session: Session) -> None:
    answered(session, "Hello", "Hi")
    play_flight(session)
    page = client.get(session.get_absolute_url()).content.decode()
    assert 'data-label="Turns 1 to 2"' in page and 'data-label="Turns 3 to 6"' in page


def test_the_segments_of_the_ribbon_lead_to_their_layers(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    page, address = read(client, exchange, "cache"), exchange.get_absolute_url()
    assert f'href="{address}?tab=layers#layer-static"' in page
    linked = set(re.findall(r'tab=layers#(layer-\w+)"', page))
    assert linked <= set(re.findall(r'id="(layer-\w+)"', read(client, exchange, "layers")))


def test_the_place_of_the_break_is_marked_in_its_item(client: Client, session: Session) -> None:
    session.background = "a \u202e b"
    session.save()
    exchange = broken_exchange(session, purpose="Book <b>trains</b>.")
    page = read(client, exchange)
    assert page.count('id="break"') == 1
    assert re.search(r'<mark id="break"[^>]*>trains&lt;/b&gt;\.', page)


def test_the_break_in_an_old_turn_is_not_folded(session: Session) -> None:
    make_history(session, 20)
    exchange = answered(session, "Hello", "Hi")
    first = LayersTab().context(exchange, raw=False)[2].items[0]
    assert first.is_closed
    at = BreakPlace(first.position, "buffered", "turn:x", 3, 1, 1, 4, 0, 0)
    exchange.break_line = BreakLine(BreakKind.CHANGED, "buffered", "turn:x", 3, at, "", "", "").stored()
    items = LayersTab().context(exchange, raw=False)[2].items
    marked = {item.position: part.mark for item in items for part in item.parts if part.mark is not None}
    assert marked == {first.position: 4}


def test_cached_items_are_marked(session: Session) -> None:
    exchange = make_exchange(make_run(session), cache_name="cachedContents/abc")
    static, dynamic, *_ = LayersTab().context(exchange, raw=False)
    assert static.is_cached
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
