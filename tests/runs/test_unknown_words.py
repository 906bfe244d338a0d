"""Reasons, parts and keys that this version does not know: the answer stands, the word is shown."""

import json
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.models import Exchange, Run, Session, Turn
from sessions_app.models.columns import storable_json
from sessions_app.prompt.chunks import Usage
from sessions_app.prompt.reply import fold
from tests.prompt.examples import SIGNATURE, call, text
from tests.runs.dialects import DIALECTS, Dialect, in_both_dialects
from tests.runs.hops import answer, done, turns_of

PATCH: dict[str, Any] = {"data": "AAA=", "deep": [{"a": 1}]}


async def page_of(client: AsyncClient, session: Session, where: str, **params: str) -> str:
    owner: User = await sync_to_async(lambda: session.owner)()
    await client.aforce_login(owner)
    page = await client.get(where, params)
    assert page.status_code == 200
    return page.content.decode()


@in_both_dialects
async def test_calls_under_an_unknown_reason_are_run(
    session: Session, async_client: AsyncClient, dialect: Dialect
) -> None:
    calls = call("current_time"), call("current_time")
    called = dialect.event(text("I look. "), *calls, reason="Paused_BY_MOON")
    late = dialect.event(text("Late."), reason="STOP")
    run, _, _ = await answer(session, [called], [late], gateway=dialect.gateway)
    turns = await turns_of(session)
    assert (run.status, [turn.kind for turn in turns]) == (
        "completed",
        ["user_task", "function_calling", "tool_response", "model_response"],
    )
    assert sum(part.response is not None for part in turns[2].parts) == 2
    assert "does not know: Paused_BY_MOON." in await page_of(
        async_client, session, session.get_absolute_url()
    )


@in_both_dialects
async def test_text_under_an_unknown_reason_stands(
    session: Session, async_client: AsyncClient, dialect: Dialect
) -> None:
    run, _, _ = await answer(session, [dialect.event(text("All of it."), reason=87)], gateway=dialect.gateway)
    _, turn = await turns_of(session)
    exchange = await Exchange.objects.select_related("session").aget(run=run)
    assert (run.status, turn.text, turn.cut, exchange.finish_reason) == (
        "completed",
        "All of it.",
        False,
        "87",
    )
    assert "does not know: 87." in await page_of(async_client, session, session.get_absolute_url())
    shown = await page_of(async_client, session, exchange.get_absolute_url(), tab="response")
    assert "not known to Pipeweb" in shown


@in_both_dialects
async def test_an_unknown_reason_without_an_answer_is_a_failure_that_names_it(
    session: Session, async_client: AsyncClient, dialect: Dialect
) -> None:
    reason = "out_OF_" + "MANA" * 20
    run, _, _ = await answer(session, [dialect.event(reason=reason)], gateway=dialect.gateway)
    assert (run.status, run.error["figures"]) == ("failed", {"finish_reason": reason[:40]})
    assert "does not know: out_OF_MANA" in await page_of(async_client, session, session.get_absolute_url())


@in_both_dialects
async def test_a_part_of_an_unknown_kind_is_kept_and_shown(
    session: Session, async_client: AsyncClient, dialect: Dialect
) -> None:
    said = dialect.event(text("Listen: "), {"audioPatch": PATCH}, reason="STOP")
    run, _, _ = await answer(session, [said], gateway=dialect.gateway)
    _, turn = await turns_of(session)
    assert (run.status, [part.raw for part in turn.parts]) == (
        "completed",
        [{"text": "Listen: "}, {f"{dialect.part_place}audioPatch": PATCH}],
    )
    shown = await page_of(async_client, session, session.get_absolute_url())
    assert f"Part: {dialect.part_place}audioPatch" in shown and "&quot;deep&quot;" in shown


@in_both_dialects
async def test_an_answer_of_nothing_but_an_unknown_part_is_one(session: Session, dialect: Dialect) -> None:
    said = dialect.event({"refusal": "I would rather not."}, reason="STOP")
    run, _, _ = await answer(session, [said], gateway=dialect.gateway)
    _, turn = await turns_of(session)
    assert (run.status, [part.kind for part in turn.parts]) == ("completed", ["other"])


async def test_a_part_of_an_unknown_kind_is_sent_back(session: Session) -> None:
    part = {"audioPatch": PATCH, "thoughtSignature": SIGNATURE}
    await answer(session, [done(text("Listen: "), part)])
    _, provider, _ = await answer(session, [done(text("Yes."))], message="And?")
    assert provider.bodies[0]["contents"][-2]["parts"] == [{"text": "Listen: "}, part]


async def test_a_chat_completion_has_no_place_for_an_unknown_part(session: Session) -> None:
    openai = DIALECTS["openai"]
    said = [openai.event(text("Listen: "), {"audioPatch": PATCH}, reason="stop")]
    await answer(session, said, gateway=openai.gateway)
    done = [openai.event(text("Yes."), reason="stop")]
    _, provider, _ = await answer(session, done, message="And?", gateway=openai.gateway)
    assert provider.bodies[0]["messages"][-2] == {"role": "assistant", "content": "Listen: "}


@in_both_dialects
async def test_a_cut_answer_keeps_it_as_well(session: Session, dialect: Dialect) -> None:
    said = dialect.event(text("Listen: "), {"audioPatch": PATCH}, reason=dialect.unsafe)
    await answer(session, [said], gateway=dialect.gateway)
    _, turn = await turns_of(session)
    kept = {f"{dialect.part_place}audioPatch": PATCH}
    assert (turn.cut, [part.raw for part in turn.parts]) == (True, [{"text": "Listen: "}, kept])


async def test_an_unknown_role_is_not_sent_back(session: Session) -> None:
    odd = {"candidates": [{"content": {"role": "assistant", "parts": [text("Hi.")]}, "finishReason": "STOP"}]}
    await answer(session, [orjson.dumps(odd)])
    _, provider, _ = await answer(session, [done(text("Yes."))], message="And?")
    assert provider.bodies[0]["contents"][-2]["role"] == "model"


@in_both_dialects
async def test_unknown_keys_are_listed_once_as_news(
    session: Session, async_client: AsyncClient, dialect: Dialect
) -> None:
    said = [
        dialect.event(text("a"), moodToken="first"),
        dialect.event(text("a"), moodToken="second", beside={"mood": {"is": "good"}}),
        dialect.event(text("a"), reason="STOP"),
    ]
    run, _, _ = await answer(session, said, gateway=dialect.gateway)
    exchange = await Exchange.objects.select_related("session").aget(run=run)
    shown = await page_of(async_client, session, exchange.get_absolute_url(), tab="response")
    assert shown.count("<code>moodToken</code>") == 1
    assert shown.count(f"<code>{dialect.key_place}mood</code>") == 1
    assert "first" in shown and "second" not in shown.partition("<h2>News</h2>")[2]


BIG = str(10**30)
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 10**30, -1.5, "", "\0", "\ud800", {"a": [1]}, [], [{"b": {"\ud800": 1}}]]
)
NAMES = st.sampled_from(["gemini-x", "a\ud800", "\0"])
NEW_KEYS = st.dictionaries(st.sampled_from(["x", "y-z", "videoPatch", "0", "\ud800"]), VALUES, max_size=2)


@given(st.data())
def test_new_words_anywhere_lose_no_text_and_no_call(data: st.DataObject) -> None:
    """Unknown keys in every object, unknown parts between the parts, an unknown reason at the end.

    What a row or an event gets of names has a form in UTF-8.
    """
    bodies = []
    for part in (text("One "), text("two"), call("f", SIGNATURE, a=1), call("g")):
        parts = [data.draw(NEW_KEYS), part, data.draw(NEW_KEYS)]
        candidate = {"content": {"role": data.draw(VALUES), "parts": parts}} | data.draw(NEW_KEYS)
        names = {"modelVersion": data.draw(NAMES), "responseId": data.draw(NAMES)}
        event = {"candidates": [candidate], "usageMetadata": data.draw(NEW_KEYS)} | data.draw(NEW_KEYS)
        bodies.append(json.dumps(event | names).encode())
    reason = data.draw(st.sampled_from(["STOP", "NEW_REASON", "NEW\ud800", 99, -1]))
    bodies.append(json.dumps({"candidates": [{"finishReason": reason}]}).encode())
    reply = fold(bodies)
    assert "\ud800" not in f"{reply.finish_reason}{reply.model_version}{reply.response_id}"
    assert reply.text == "One two"
    assert [(one.name, one.args) for one in reply.calls] == [("f", {"a": 1}), ("g", {})]
    assert reply.outcome == "calls"
    kept = json.loads(reply.wire or b"")["parts"]
    new = [part for body in bodies for part in _parts(body) if part and "text" not in part]
    # orjson stops at 64 bits: what is kept of a longer number is its value.
    sent = json.dumps(new).replace(BIG, "1e+30").replace("\\ud800", "\\ufffd")
    assert json.dumps([part for part in kept if "text" not in part]) == sent


def _parts(body: bytes) -> list[dict[str, Any]]:
    content = json.loads(body)["candidates"][0].get("content") or {}
    return list(content.get("parts") or [])


@given(st.dictionaries(st.sampled_from(["promptTokenCount", "totalTokenCount", "new"]), VALUES))
def test_any_usage_fits_its_columns(raw: dict[str, Any]) -> None:
    usage = Usage.of(raw)
    for count in (usage.prompt, usage.total, usage.cached):
        assert type(count) is int and 0 <= count < 2**31


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"a\0": ["b\0", {"c": float("nan")}]}, {"a": ["b", {"c": None}]}),
        ([float("inf"), -1.5, 10**30, None, True], [None, -1.5, 10**30, None, True]),
    ],
)
def test_what_a_database_refuses_is_not_stored(value: Any, stored: Any) -> None:
    assert storable_json(value) == stored


@pytest.mark.parametrize("count", [10**12, -1, "7", 1.5, True, None])
async def test_odd_counts_do_not_fail_a_run(session: Session, count: Any) -> None:
    usage = {"promptTokenCount": count, "totalTokenCount": 1, "new": "\0"}
    odd = orjson.loads(done(text("Hi."))) | {"usageMetadata": usage}
    run, _, _ = await answer(session, [orjson.dumps(odd)])
    assert (run.status, await Turn.objects.filter(run=run).acount()) == (Run.Status.COMPLETED, 2)
