"""Counts and reasons in forms that few answers have: what they do not tell is not claimed."""

import json
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.chat.answer_cost import AnswerUsage
from sessions_app.inspector.exchange_header import equation_of
from sessions_app.inspector.formatting import share
from sessions_app.models import Booking, CaptureAddress, CapturedRequest, Exchange
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.pricing import Money
from tests.capture.answers import MODEL, Asking, audited, counted, event
from tests.capture.conversations import body_of, model, user
from tests.factories import text_chunk
from tests.prices import make_price

pytestmark = pytest.mark.django_db

ASKED = body_of([user("How do I scale the loaf to two kilograms?")])


@pytest.fixture
def program(alice: User) -> Asking:
    make_price(MODEL)
    return Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])


def answered(program: Asking, usage: dict[str, Any], finish: object = "STOP") -> Exchange:
    said = orjson.loads(text_chunk("Double it, and bake it for longer.", usage=usage))
    said["candidates"][0] |= {"finishReason": finish} if finish else {}
    return program.exchange(ASKED, event(orjson.dumps(said)))


def test_counts_that_are_no_numbers_count_nothing(program: Asking) -> None:
    exchange = answered(program, {"promptTokenCount": "12", "candidatesTokenCount": "3"})
    assert (exchange.prompt_tokens, exchange.cached_tokens) == (None, None)
    assert exchange.verdict_figures["reason"] == "no_usage"
    assert equation_of(exchange) == "The provider reported no usage."
    money = Money.restored(exchange.money)
    assert money is not None and money.estimated and exchange.usd and not audited()
    assert CapturedRequest.objects.get().prompt_tokens is None


def usage_with(**fields: Any) -> dict[str, Any]:
    return {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13, **fields}


def of_modality(*named: object, count: int = 5) -> list[dict[str, Any]]:
    return [{"modality": name, "tokenCount": count} for name in named]


ESTIMATES: dict[str, tuple[dict[str, Any], bool]] = {
    "a prompt below nothing": (usage_with(promptTokenCount=-1), True),
    "a prompt beyond any": (usage_with(promptTokenCount=2**31), True),
    "another modality": (usage_with(promptTokensDetails=of_modality("AUDIO")), True),
    "no modality": (usage_with(promptTokensDetails=of_modality("", None, 0)), False),
    "no count": (usage_with(cacheTokensDetails=of_modality("AUDIO", count=2**31)), False),
    "another list": (usage_with(thoughtsTokensDetails=of_modality("AUDIO")), False),
}


@pytest.mark.parametrize("finish", ["STOP", ""])
@pytest.mark.parametrize("name", ESTIMATES)
def test_the_audit_takes_for_an_estimate_what_is_one(program: Asking, name: str, finish: str) -> None:
    """A cost of which less is known than of an estimate is a lower bound, where the end is missing."""
    usage, is_estimate = ESTIMATES[name]
    answered(program, usage, finish)
    booking = Booking.objects.get()
    assert (booking.estimated, booking.cut_off) == (is_estimate, not finish and not is_estimate)
    assert not audited()


def test_counts_that_no_column_holds_together_lose_no_request(program: Asking) -> None:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 2**31 - 1}
    exchange = answered(program, usage)
    assert exchange.thought_tokens == 2**31 - 1 and not audited()
    assert CapturedRequest.objects.get().output_tokens is None


def test_more_cached_than_read_tells_no_share(program: Asking, client: Client) -> None:
    usage = {"promptTokenCount": 10, "cachedContentTokenCount": 50, "totalTokenCount": 15}
    exchange = answered(program, usage)
    assert equation_of(exchange).startswith("10 prompt, 50 cached;")
    account = AnswerUsage.of([exchange])
    assert account is not None and account.share == "cached share unknown"
    assert share(50, 10) == share(None, 10) and share(10, 10) == "100 %"
    pages = (reverse("capture"), exchange.get_absolute_url(), exchange.session.get_absolute_url())
    said = "".join(client.get(page).content.decode() for page in pages)
    assert not any(odd in said for odd in ("500 %", "-40 new")) and not audited()


def test_an_answer_without_its_end_costs_at_least_what_was_counted(program: Asking) -> None:
    counted = {"promptTokenCount": 14, "candidatesTokenCount": 2, "totalTokenCount": 16}
    exchange = answered(program, counted, "")
    money = Money.restored(exchange.money)
    assert money is not None and money.is_bound and Booking.objects.get().output_tokens == 2
    assert not audited()


@pytest.mark.parametrize(
    ("number", "name"), [(1, "STOP"), (2, "MAX_TOKENS"), (13, "TOO_MANY_TOOL_CALLS"), (77, "77")]
)
def test_a_reason_may_be_a_number(program: Asking, number: int, name: str) -> None:
    exchange = answered(program, {"promptTokenCount": 9, "totalTokenCount": 9}, number)
    assert exchange.finish_reason == name and not audited()


ODD_NAMES = [
    "X" * 200,
    " a ",
    "a\0b",
    "a\ud83d",
    "\ud83d\0\ude00",
    "\0",
    " " * 100,
    "é" * 79 + " b",
    "A" * 80 + " ",
]


@pytest.mark.parametrize("name", [*ODD_NAMES, 1.5, ["STOP"], {}, 10**30])
@pytest.mark.parametrize("key", ["finishReason", "modelVersion", "responseId"])
def test_a_name_that_is_not_kept_as_it_came_is_what_the_audit_expects(
    program: Asking, key: str, name: object
) -> None:
    said = orjson.loads(text_chunk("Double it, and bake it.", usage=counted(90), finish="STOP"))
    (said["candidates"][0] if key == "finishReason" else said)[key] = name
    said["usageMetadata"] |= {"a\0b": "c\ud83d"}
    program.exchange(ASKED, event(json.dumps(said).encode()))
    assert not audited()


def test_of_a_serving_model_that_nobody_knows_no_minimum_is_claimed(program: Asking) -> None:
    question, reply = user("How do I scale the loaf to two kilograms?"), model("Double it.")
    said = event(text_chunk("Double it.", finish="STOP", usage=counted(900)))
    program.exchange(body_of([question]), said.replace(MODEL.encode(), b"other-house-1"))
    exchange = program.exchange(body_of([question, reply, user("And the crust?")]), said)
    assert exchange.previous is not None
    assert exchange.verdict_figures["minimum"] == 0
    assert exchange.verdict != VerdictCode.BELOW_MINIMUM
    assert audited() == []
