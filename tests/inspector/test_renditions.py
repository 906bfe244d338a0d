from datetime import UTC, datetime, timedelta
from html import unescape

import orjson
import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.inspector.tabs.renditions_tab import RenditionsTab, renditions_of
from sessions_app.models import Dialect, Exchange, Session, Turn
from sessions_app.prompt.dialects.openai import openai_request
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.renditions.original import SIGNATURES
from sessions_app.prompt.stage_records import StageName, StageRecord
from sessions_app.prompt.turns import TurnKind
from sessions_app.wording.provider_tools import NAMES
from tests.factories import answered, finish, make_exchange, make_history, make_run, play_flight
from tests.inspector.reading import read

FOREIGN = ["OpenAI-compatible, panels as tool calls", "OpenAI-compatible, panels as JSON", "Anthropic"]


def titles(exchange: Exchange) -> list[str]:
    return [rendition.title for rendition in renditions_of(exchange)]


def written(exchange: Exchange, title: str) -> bytes:
    return next(one.write() for one in renditions_of(exchange) if one.title == title)


def test_a_request_is_told_in_three_formats(client: Client, session: Session) -> None:
    _, exchange = play_flight(session)
    assert titles(exchange) == ["Gemini, as sent", *FOREIGN]
    page = unescape(read(client, exchange, "renditions"))
    assert all(sign in page for sign in ('"functionDeclarations"', '"tool_call_id"', '"input_schema"'))


def test_the_page_says_where_signatures_are_left_out(session: Session) -> None:
    _, exchange = play_flight(session)
    told = {one.title: NAMES[SIGNATURES] in one.description for one in renditions_of(exchange)}
    assert told == {"Gemini, as sent": False} | {title: title == "Anthropic" for title in FOREIGN}


def test_a_hit_is_also_told_as_if_inline(session: Session) -> None:
    exchange = make_exchange(make_run(session), cache_name="cachedContents/abc")
    assert titles(exchange)[:2] == ["Gemini, as sent", "Gemini, as if inline"]
    inline = written(exchange, "Gemini, as if inline")
    assert b"cachedContent" not in inline and orjson.loads(inline)["tools"]


def test_as_sent_is_what_was_sent(session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    assert written(exchange, "Gemini, as sent") == exchange.request_body()


def test_an_exchange_in_the_other_dialect_shows_what_travelled(session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    exchange.dialect = Dialect.OPENAI
    exchange.save()
    assert titles(exchange)[:2] == ["Gemini, prepared", "OpenAI-compatible, as sent"]
    travelled = written(exchange, "OpenAI-compatible, as sent")
    assert travelled == openai_request(exchange.model, exchange.request_body())


@pytest.mark.parametrize("title", FOREIGN)
def test_the_download_is_the_whole_rendition(client: Client, session: Session, title: str) -> None:
    _, exchange = play_flight(session)
    place = titles(exchange).index(title)
    address = reverse("exchange-rendition", args=[session.public, exchange.number, place])
    response = client.get(address)
    assert response["Content-Type"] == "application/json"
    assert orjson.loads(response.content) == orjson.loads(written(exchange, title))
    assert f'data-copy-url="{address}"' in read(client, exchange, "renditions")


def test_a_long_rendition_is_shown_in_part_and_whole_on_request(client: Client, session: Session) -> None:
    exchange = answered(session, "long " * 20_000, "Hi")
    shown = RenditionsTab().context(exchange, raw=False)
    assert all(rendition.rest > 50_000 for rendition in shown)
    place = reverse("exchange-whole", args=[session.public, exchange.number, "rendition", 3])
    assert place in read(client, exchange, "renditions")
    assert len(client.get(place).content) > 100_000


@pytest.mark.parametrize("name", ["exchange-rendition", "exchange-whole"])
def test_a_rendition_that_is_not_there_is_not_found(client: Client, session: Session, name: str) -> None:
    exchange = answered(session, "Hello", "Hi")
    what = ["rendition"] if name == "exchange-whole" else []
    address = reverse(name, args=[session.public, exchange.number, *what, 99])
    assert client.get(address).status_code == 404


def test_a_stranger_finds_no_rendition(stranger: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    address = reverse("exchange-rendition", args=[session.public, exchange.number, 0])
    assert stranger.get(address).status_code == 404


def test_a_long_history_costs_no_more_queries(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    newest = Exchange.objects.get(pk=make_history(session, 12)[-1].pk)
    with django_assert_num_queries(3):
        RenditionsTab().context(newest, raw=False)


def test_an_exchange_without_a_manifest_still_has_a_page(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(manifest={})
    assert "Anthropic" in read(client, exchange, "renditions")


def ordered() -> list[dict[str, object]]:
    remark = Remark(code=RemarkCode.PANEL_SINCE, panel="todos", since="2026-11-20 18:30:00")
    return [StageRecord(name=StageName.ORDER_PANELS, remarks=(remark,)).stored()]


@pytest.mark.parametrize("title", [FOREIGN[0], FOREIGN[2]])
def test_the_forms_with_panels_tell_the_times_of_the_rows(session: Session, title: str) -> None:
    answered(session, "Hello", "Hi")
    exchange = make_exchange(make_run(session), stages=ordered())
    asked = datetime(2026, 11, 21, 9, tzinfo=UTC)
    Turn.objects.filter(session=session).update(created_at=asked - timedelta(minutes=2))
    exchange.started_at = asked
    told = written(exchange, title).decode()
    assert "Panel automatically generated at 2026-11-20T18:30:00Z" in told
    assert told.count("  - user: 2026-11-21T08:58:00Z (2 minutes ago)") == 2
    assert told.count("  - assistant: 2026-11-21T08:58:00Z (2 minutes ago)") == 1
    assert "Current datetime: 2026-11-21T09:00:00Z" in told


def test_a_copied_message_has_the_time_at_which_it_was_written(session: Session) -> None:
    exchange = make_exchange(make_run(session))
    (turn,) = Turn.objects.filter(session=session, kind=TurnKind.USER_TASK)
    origin = Turn.objects.create(session=session, depth=0, kind=turn.kind, content=turn.content)
    Turn.objects.filter(pk=origin.pk).update(created_at=datetime(2026, 11, 1, tzinfo=UTC))
    Turn.objects.filter(pk=turn.pk).update(origin=origin)
    assert "user: 2026-11-01T00:00:00Z" in written(exchange, "Anthropic").decode()


def test_a_later_hop_tells_the_times_of_the_first(session: Session) -> None:
    first = make_exchange(make_run(session), stages=ordered())
    finish(first.run)
    hop = make_exchange(make_run(session), continues=first)
    assert "generated at 2026-11-20T18:30:00Z" in written(hop, "Anthropic").decode()
