"""Chat completions and interactions: what is counted of them, and what they cost, computed here by hand."""

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.capture.other_forms import asks_in_other_form
from sessions_app.chat.spending import SpendingPage
from sessions_app.gemini.http_evidence import EMULATOR_HEADER
from sessions_app.models import CaptureAddress, CapturedRequest, SearchPrice
from sessions_app.models.capture_address import OF_FILE
from tests.capture.answers import says
from tests.capture.conversations import body_of, user
from tests.capture.program import Program
from tests.prices import make_price

pytestmark = pytest.mark.django_db

MODEL = "gemini-x"
COMPLETIONS, INTERACTIONS = "/v1beta/openai/chat/completions", "/v1beta/interactions"
USAGE = {
    "prompt_tokens": 1_000,
    "completion_tokens": 20,
    "total_tokens": 1_050,
    "prompt_tokens_details": {"cached_tokens": 400},
}
COUNTS = {
    "total_input_tokens": 1_000,
    "total_cached_tokens": 400,
    "total_output_tokens": 20,
    "total_thought_tokens": 30,
    "total_tokens": 1_050,
}
SUM = "600 new × $2.00 + 400 cached × $0.50 + 20 output × $10.00 + 30 thoughts × $10.00 = $0.0019"
"""600 × 2 + 400 × 0.5 + 50 × 10 = 1,900 millionths."""


@pytest.fixture
def program(alice: User) -> Program:
    make_price(MODEL, input="2", cached="0.5", output="10")
    return Program(CaptureAddress.issue(alice.pk, "Laptop", upstream="provider")[0])


def completion(program: Program, **answer: Any) -> CapturedRequest:
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "Is it done?"}]}
    said: dict[str, Any] = {"object": "chat.completion", "choices": [], "usage": USAGE}
    return ask(program, COMPLETIONS, asked, said | answer)


def interaction(
    program: Program, path: str = INTERACTIONS, method: str = "POST", **usage: Any
) -> CapturedRequest:
    asked = {"model": MODEL, "input": "Is it done?"}
    return ask(program, path, asked, {"object": "interaction", "usage": COUNTS | usage}, method=method)


def ask(
    program: Program, path: str, asked: Any, said: Any, status: int = 200, **fields: Any
) -> CapturedRequest:
    sent, answer = (json.dumps(one).encode() for one in (asked, said))
    return program.ask(sent, answer, status, asks_model=False, path=path, model="", **fields)


def tokens_of(row: CapturedRequest) -> tuple[int | None, ...]:
    return row.prompt_tokens, row.cached_tokens, row.output_tokens


def cost_on_page(client: Client, row: CapturedRequest) -> str:
    shown = client.get(reverse("captured-request", args=[row.public])).content.decode()
    return shown.partition("<dt>Cost</dt><dd>")[2].partition("; in no sum")[0]


@pytest.mark.parametrize("asked", [completion, interaction])
def test_what_was_counted_is_listed_and_priced(asked: Any, program: Program, client: Client) -> None:
    row = asked(program)
    assert row.model == MODEL and tokens_of(row) == (1_000, 400, 50)
    assert cost_on_page(client, row) == SUM
    listed = client.get(reverse("capture")).content.decode()
    assert (
        "1,000 tokens<" in listed and "40 % cached" in listed and "50 tokens<" in listed and MODEL in listed
    )


def test_counts_that_are_too_large_together_are_not_listed(program: Program) -> None:
    row = interaction(program, total_output_tokens=2**31 - 1)
    assert tokens_of(row) == (1_000, 400, None)


def test_the_price_is_that_of_the_model_that_answered(program: Program, client: Client) -> None:
    make_price("gemini-served", input="4", cached="1", output="20")
    assert cost_on_page(client, completion(program, model="gemini-served")).endswith("= $0.0038")


def test_without_a_price_the_cost_is_unknown(program: Program, client: Client) -> None:
    assert cost_on_page(client, completion(program, model="gemini-unheard-of")) == "The price is unknown"


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/v1beta/interactions/v1_it", "GET"),
        ("/v1beta/interactions/v1_it/cancel", "POST"),
        (INTERACTIONS, "GET"),
    ],
)
def test_what_asks_for_a_kept_interaction_costs_nothing(
    path: str, method: str, program: Program, client: Client
) -> None:
    row = interaction(program, path, method)
    assert tokens_of(row) == (None, None, None) and cost_on_page(client, row) == ""


def test_what_was_refused_or_not_counted_has_no_cost(program: Program, client: Client) -> None:
    refused = ask(program, COMPLETIONS, {"model": MODEL, "messages": []}, [{"error": {"code": 400}}], 400)
    uncounted = completion(program, usage=None)
    for row in (refused, uncounted):
        assert tokens_of(row) == (None, None, None) and cost_on_page(client, row) == ""


@pytest.mark.parametrize(
    ("kind", "case"), [("text", "= $0.0019"), ("audio", "$0.0019 at the standard text price")]
)
def test_tokens_that_are_no_text_have_another_price(
    kind: str, case: str, program: Program, client: Client
) -> None:
    row = interaction(program, input_tokens_by_modality=[{"modality": kind, "tokens": 1_000}])
    assert cost_on_page(client, row).endswith(case)


def test_another_service_tier_has_another_price(program: Program, client: Client) -> None:
    flex = completion(program, service_tier="flex")
    assert cost_on_page(client, flex).endswith("at the standard text price")
    assert cost_on_page(client, completion(program, service_tier="default")) == SUM


def test_searches_of_an_interaction_are_charged(program: Program, client: Client) -> None:
    searched: dict[str, Any] = {
        "grounding_tool_count": [{"type": "google_search", "count": 2}, {"type": "url", "count": 9}]
    }
    row = interaction(program, **searched)
    assert "≥" in cost_on_page(client, row)
    SearchPrice.objects.create(model=MODEL, valid_from=date(2026, 1, 1), usd=14, per="query")
    assert "searches: 2 × $14.00 a thousand = $0.0299" in cost_on_page(client, row)


def test_a_cut_answer_costs_at_least_what_was_counted(program: Program, client: Client) -> None:
    row = completion(program)
    CapturedRequest.objects.filter(pk=row.pk).update(is_cut=True)
    assert "≥ $0.0019" in cost_on_page(client, row)


def test_the_emulator_is_paid_nothing(program: Program, client: Client) -> None:
    CaptureAddress.objects.update(upstream=CaptureAddress.Upstream.EMULATOR)
    assert cost_on_page(client, completion(program)) == f"Would have cost: {SUM}"


def test_a_file_tells_of_the_emulator_by_the_head_of_the_answer(program: Program, client: Client) -> None:
    CaptureAddress.objects.update(token_hash=f"{OF_FILE}1")
    row = completion(program)
    assert cost_on_page(client, row) == SUM
    CapturedRequest.objects.update(response_headers=[[EMULATOR_HEADER, "1"]])
    assert cost_on_page(client, row) == f"Would have cost: {SUM}"


def test_spending_tells_how_many_are_in_none_of_its_sums(program: Program, client: Client) -> None:
    """Of the month, in UTC: neither one that was refused or asked no model, nor one of a session or of
    somebody else.
    """
    program.now = datetime(2026, 11, 30, 23, 59, 53, tzinfo=UTC)
    completion(program)
    completion(program, usage=None)
    ask(program, COMPLETIONS, {"model": MODEL}, {}, 400)
    for path, method in ((f"{INTERACTIONS}/v1_a", "GET"), (f"{INTERACTIONS}/v1_a/cancel", "POST")):
        interaction(program, path, method)
    program.ask(body_of([user("Is it done?")]), says("It is."), model=MODEL)
    interaction(program, f"{INTERACTIONS}?a=b")
    for month, number in (("2026-11", 2), ("2026-12", 1), ("2026-10", 0)):
        page = client.get(reverse("spending"), {"month": month})
        assert page.context["page"].in_no_sum == number
        assert page.content.decode().count("none of these sums") == bool(number)
    assert SpendingPage.of(None, date(2026, 11, 1)).in_no_sum == 0


@pytest.mark.parametrize("version", ["v1", "v1beta", "v1beta2", "v1alpha"])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/openai/chat/completions", True),
        ("/interactions", True),
        ("/interactions/a", False),
        ("/openai/chat/completions/a", False),
        ("/models", False),
    ],
)
def test_a_model_is_asked_in_another_form_by_the_path(version: str, path: str, expected: bool) -> None:
    for query in ("", "?a=b"):
        assert asks_in_other_form("POST", f"/{version}{path}{query}") == expected
        assert not asks_in_other_form("GET", f"/{version}{path}{query}")


def test_nothing_was_spent_is_said_only_where_nothing_was_counted(program: Program, client: Client) -> None:
    said = "Nothing was spent"
    assert said in client.get(reverse("spending")).content.decode()
    completion(program)
    assert said not in client.get(reverse("spending")).content.decode()
