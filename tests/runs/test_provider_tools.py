"""Search, links, code and answers as JSON, through the real client and the emulator, to the rows."""

from decimal import Decimal
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async

from sessions_app.audit.audit import audit_session
from sessions_app.models import Booking, Exchange, SearchPrice, Session, Spending, Turn
from sessions_app.prompt.pricing import Money, TermKind
from sessions_app.prompt.provider_tools import Obstacle, Wish
from sessions_app.prompt.verdict import VerdictReason
from sessions_app.runs.runner import Runner
from tests.audit.money import audited
from tests.runs.conftest import Ask
from tests.runs.running import send, watch

SEARCH = "Search for the way of bees."
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


async def set_up(session: Session, model: str = "gemini-3-flash-preview", **settings: Any) -> None:
    session.model, session.settings = model, settings
    await session.asave(update_fields=["model", "settings"])


async def newest(session: Session) -> Exchange:
    return await Exchange.objects.filter(session=session).select_related("run__session").alatest("number")


def sent(exchange: Exchange) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(exchange.request_body())
    return found


async def request(session: Session) -> dict[str, Any]:
    return await sync_to_async(sent)(await newest(session))


async def head(session: Session) -> Turn:
    await session.arefresh_from_db()
    assert session.head_id is not None
    return await Turn.objects.select_related("content").aget(pk=session.head_id)


def left_out(exchange: Exchange) -> list[tuple[str, str]]:
    found = next(one for one in exchange.stages if one["name"] == "offer_tools")
    return [(one["what"], one["why"]) for one in found["remarks"]]


async def test_a_search_is_declared_beside_functions_with_consent(ask: Ask, session: Session) -> None:
    await set_up(session, provider_tools=["google_search"])
    await ask(SEARCH)
    body = await request(session)
    assert [next(iter(tool)) for tool in body["tools"]] == ["functionDeclarations", "googleSearch"]
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}


async def test_what_the_search_did_is_kept_and_sent_back_byte_for_byte(ask: Ask, session: Session) -> None:
    await set_up(session, provider_tools=["google_search"])
    await ask(SEARCH)
    answer = await head(session)
    kinds = [part.kind for part in answer.parts]
    assert "tool_call" in kinds and "tool_response" in kinds
    assert all(part.signature for part in answer.parts if part.kind in ("tool_call", "tool_response"))
    await ask("Thanks.")
    body = await sync_to_async((await newest(session)).request_body)()
    assert answer.wire in body


async def test_a_search_is_cited_and_its_suggestions_are_kept(ask: Ask, session: Session) -> None:
    await set_up(session, provider_tools=["google_search"])
    await ask(SEARCH)
    cited = (await head(session)).cited
    assert cited.sources and cited.places and cited.queries == ("the way of bees",)
    assert "the+way+of+bees" in cited.suggestions


async def test_each_query_is_charged_at_the_price_of_the_day(ask: Ask, session: Session) -> None:
    await set_up(session, provider_tools=["google_search"])
    await ask(SEARCH)
    exchange = await newest(session)
    price = await SearchPrice.objects.aget(model=session.model)
    booking = await Booking.objects.aget(exchange=exchange)
    assert (exchange.searches, booking.searches, booking.search_price_id) == (1, 1, price.pk)
    money = Money.restored(exchange.money)
    assert money is not None and money.terms[-1].name is TermKind.SEARCH
    assert money.terms[-1].usd == Decimal("0.014") and money.total == booking.usd
    assert await sync_to_async(audited)(session) == []
    assert await sync_to_async(lambda: list(audit_session(session.pk, "it")))() == []


async def test_an_older_model_charges_the_prompt_whatever_it_searched(ask: Ask, session: Session) -> None:
    await set_up(session, "gemini-2.5-flash", provider_tools=["google_search"], tools=[])
    await ask(SEARCH)
    booking = await Booking.objects.aget(exchange=await newest(session))
    money = Money.restored((await newest(session)).money)
    assert booking.searches == 1 and money is not None and money.terms[-1].usd == Decimal("0.035")
    exchange = await newest(session)
    assert exchange.usage["toolUsePromptTokenCount"] > 0
    assert TermKind.TOOL_USE in {term.name for term in money.terms}
    assert booking.tool_use_tokens == exchange.usage["toolUsePromptTokenCount"]
    day = await Spending.objects.aget(day=booking.day, model=booking.model)
    assert day.tool_use_tokens >= booking.tool_use_tokens
    assert await sync_to_async(audited)(session) == []


async def test_a_search_without_a_price_is_a_lower_bound(ask: Ask, session: Session) -> None:
    await SearchPrice.objects.all().adelete()
    await set_up(session, provider_tools=["google_search"])
    await ask(SEARCH)
    money = Money.restored((await newest(session)).money)
    assert money is not None and money.is_bound and money.unpriced_searches == 1
    await session.arefresh_from_db()
    assert session.unpriced == 1 and session.spent_usd > 0
    assert await sync_to_async(audited)(session) == []


async def test_code_runs_and_stays_verbatim(ask: Ask, session: Session) -> None:
    await set_up(session, provider_tools=["code_execution"])
    await ask("Compute 6*7.")
    answer = await head(session)
    ran = next(part.code_result for part in answer.parts if part.kind == "code_execution_result")
    assert ran is not None and ran["output"] == "42\n"
    await ask("Thanks.")
    assert answer.wire in await sync_to_async((await newest(session)).request_body)()


async def test_a_viewer_hears_which_tool_works(runner: Runner, session: Session) -> None:
    await set_up(session, provider_tools=["google_search", "code_execution"])
    events = await watch(runner, session, await send(runner, session, "Search for bees, and compute 6*7"))
    told = [event["text"] for event in events if event["type"] == "status"]
    assert {"Web search…", "Run code…"} <= set(told)


async def test_a_page_that_was_not_retrieved_is_named_so(ask: Ask, session: Session) -> None:
    await set_up(session, provider_tools=["url_context"])
    await ask("Read https://bees.example/ and https://gone.invalid/")
    cited = (await head(session)).cited
    told = {one.uri.rstrip("/"): (one.is_read, one.status) for one in cited.sources}
    assert told["https://bees.example"] == (True, "success")
    assert told["https://gone.invalid"] == (False, "error")
    assert (await newest(session)).searches == 0


async def test_an_older_model_leaves_out_the_chats_tools(ask: Ask, session: Session) -> None:
    await set_up(session, "gemini-2.5-flash", provider_tools=["google_search"])
    run = await ask(SEARCH)
    assert run.status == "completed"
    body = await request(session)
    assert body["tools"] == [{"googleSearch": {}}] and "toolConfig" not in body
    static = orjson.loads(body["contents"][0]["parts"][0]["text"])
    assert not static.get("tools")
    assert left_out(await newest(session)) == [(Wish.FUNCTIONS, Obstacle.BESIDE_PROVIDER_TOOLS)]


async def test_an_answer_by_a_schema_is_asked_for_and_checked(ask: Ask, session: Session) -> None:
    await set_up(session, answer_schema=orjson.dumps(SCHEMA).decode())
    await ask("The largest city of Mexico, please.")
    config = (await request(session))["generationConfig"]
    assert (config["responseMimeType"], config["responseJsonSchema"]) == ("application/json", SCHEMA)
    fit = (await head(session)).schema_fit
    assert fit is not None and fit.case == "fits"


async def test_an_answer_that_does_not_fit_says_where(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_up(session, answer_schema=orjson.dumps(SCHEMA).decode())
    monkeypatch.setattr("sessions_app.emulator.scripted_reply.sample", lambda schema: {"city": 3})
    await ask("The largest city of Mexico, please.")
    fit = (await head(session)).schema_fit
    assert fit is not None and (fit.case, fit.path, fit.rule) == ("misfit", "$.city", "type")


async def test_a_schema_beside_a_search_on_an_older_model_wins(ask: Ask, session: Session) -> None:
    schema = orjson.dumps(SCHEMA).decode()
    await set_up(session, "gemini-2.5-flash", provider_tools=["google_search"], answer_schema=schema)
    run = await ask(SEARCH)
    body = await request(session)
    assert run.status == "completed" and "tools" not in body
    assert {why for _, why in left_out(await newest(session))} == {Obstacle.BESIDE_SCHEMA}


async def test_switching_a_tool_on_breaks_the_prefix_and_is_named(ask: Ask, session: Session) -> None:
    await ask("Hello")
    await sync_to_async(session.switch)("provider_tools", "google_search", True)
    await ask("And now?")
    exchange = await newest(session)
    assert exchange.break_line["source"] == "tools"
    verdict = exchange.found_verdict
    assert verdict is not None and verdict.reason in (VerdictReason.OTHER_TOOLS, VerdictReason.TOO_SHORT)


async def test_an_explicit_cache_holds_tools_and_their_configuration(ask: Ask, session: Session) -> None:
    await set_up(session, provider_tools=["google_search"], cache_mode="explicit")
    session.purpose = "You know all about bees. " * 400
    await session.asave(update_fields=["purpose"])
    await ask("Hello")
    made = (await newest(session)).fingerprint
    run = await ask(SEARCH)
    exchange = await newest(session)
    body = await request(session)
    assert run.status == "completed" and exchange.cache_name and exchange.fingerprint == made
    assert "tools" not in body and "toolConfig" not in body
    assert [part.kind for part in (await head(session)).parts].count("tool_call") == 1
    await sync_to_async(session.switch)("provider_tools", "google_search", False)
    await ask("And now?")
    assert (await newest(session)).fingerprint != made
