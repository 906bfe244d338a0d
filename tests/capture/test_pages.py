"""The pages of capture: addresses, the list, and single requests."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.capture.addresses import find_address
from sessions_app.capture.clients import CLIENTS
from sessions_app.capture.listing import LOST, listed, state_of
from sessions_app.models import CaptureAddress, CapturedRequest
from sessions_app.models.capture_address import LIVING, capture_digest
from sessions_app.wording import capture as wording
from sessions_app.wording import costs
from tests.capture.answers import MODEL, says
from tests.capture.conversations import body_of, model, user
from tests.capture.program import Program

pytestmark = pytest.mark.django_db

FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")


@pytest.fixture
def program(alice: User) -> Program:
    return Program(CaptureAddress.issue(alice.pk, "Laptop")[0])


def page(client: Client, name: str = "capture", *arguments: Any, **query: str) -> str:
    return client.get(reverse(name, args=arguments), query).content.decode()


def test_an_address_is_shown_once_with_the_lines_for_each_program(client: Client) -> None:
    made = client.post(reverse("capture"), {"name": "Laptop", "upstream": "emulator", "days": "30"})
    found = re.search(r'id="made-address">(http://testserver/capture/([\w-]{22}))<', made.content.decode())
    assert found and find_address(capture_digest(found[2]))
    for one in CLIENTS:
        assert f'id="lines-{one.key}"' in made.content.decode()
    assert made.content.decode().count(found[1]) > len(CLIENTS)
    assert found[2] not in page(client) and "Laptop" in page(client)


def test_the_servers_key_is_used_only_when_the_box_is_ticked(client: Client) -> None:
    data = {"name": "Laptop", "upstream": "provider", "days": "30"}
    client.post(reverse("capture"), data)
    assert "spends your budget.</p>" not in page(client)
    client.post(reverse("capture"), data | {"uses_server_key": "on"})
    assert "spends your budget.</p>" in page(client)
    client.post(reverse("capture"), data | {"uses_server_key": "on", "upstream": "emulator"})
    assert [row.uses_server_key for row in CaptureAddress.objects.all()] == [True, False]


def test_lines_name_an_address_where_they_need_one() -> None:
    assert all("{base}" in one.lines for one in CLIENTS)
    assert len({one.key for one in CLIENTS}) == len(CLIENTS)


def test_an_address_can_be_paused_and_revoked(client: Client, program: Program) -> None:
    address = program.address
    for change, is_paused in (("pause", True), ("resume", False)):
        client.post(reverse("change-capture-address", args=[address.public, change]))
        address.refresh_from_db()
        assert address.is_paused == is_paused
    client.post(reverse("change-capture-address", args=[address.public, "revoke"]))
    address.refresh_from_db()
    assert not address.is_living and "Laptop" not in page(client)
    assert client.post(reverse("change-capture-address", args=[address.public, "x"])).status_code == 404


def test_nobody_makes_more_addresses_than_allowed(client: Client, alice: User) -> None:
    for number in range(LIVING):
        CaptureAddress.issue(alice.pk, str(number))
    client.post(reverse("capture"), {"name": "One more", "upstream": "provider", "days": "1"})
    assert CaptureAddress.objects.count() == LIVING


def test_requests_that_were_not_recorded_are_told(client: Client, program: Program) -> None:
    CaptureAddress.objects.count_missed(program.address.pk, 3)
    assert "3 requests were relayed but not recorded." in page(client)


def test_an_empty_list_waits_and_a_refused_request_says_why(client: Client, program: Program) -> None:
    assert "Waiting for the first request" in page(client)
    program.ask(b"", asks_model=False)
    CapturedRequest.objects.update(fault="from_browser", status=403)
    shown = page(client)
    assert "Waiting" not in shown and "Requests of web pages are not relayed" in shown


def test_the_list_comes_again_only_when_it_has_changed(client: Client, program: Program, alice: User) -> None:
    begun = program.begun(body_of([FIRST]))
    states = [state_of(alice)]
    for record in (begun, program.ended(begun)):
        program.recording([record])
        states.append(state_of(alice))
    program.recording([program.begun(body_of([SECOND]))])
    states.append(state_of(alice))
    CapturedRequest.objects.filter(public=begun.key).erase()
    states.append(state_of(alice))
    assert len(set(states)) == 5
    assert client.get(reverse("capture-list"), {"state": states[-1]}).status_code == 204
    assert "captured-session" in page(client, "capture-list", state="old")


def test_sessions_are_listed_newest_first_with_their_lanes(
    client: Client, program: Program, alice: User
) -> None:
    program.ask(body_of([FIRST], system="Route.", tools=None))
    program.ask(body_of([FIRST]))
    program.ask(body_of([SECOND]))
    program.ask(body_of([FIRST, model("Double it."), SECOND]))
    found = listed(alice)
    assert [[one.lane for one in session.requests] for session in found] == [[1, 0, 0], [0]]
    assert [session.lanes for session in found] == [2, 1]


def test_the_cached_share_is_of_the_prompt_that_contains_it(program: Program, alice: User) -> None:
    row = program.ask(body_of([FIRST]))
    for cached, share in ((50, 25), (199, 99), (200, 100), (201, None)):
        CapturedRequest.objects.filter(pk=row.pk).update(prompt_tokens=200, cached_tokens=cached)
        (session,) = listed(alice)
        assert session.cached_share == session.requests[0].cached_share == share


def test_a_request_whose_end_was_lost_is_not_under_way_for_ever(program: Program, alice: User) -> None:
    program.recording([program.begun(body_of([FIRST]))])
    (request,) = listed(alice)[0].requests
    assert request.is_under_way and not request.is_lost
    CapturedRequest.objects.update(received_at=timezone.now() - LOST - timedelta(seconds=1))
    (request,) = listed(alice)[0].requests
    assert request.is_lost and not request.is_under_way


def test_a_request_of_a_session_is_shown_in_the_inspector(client: Client, program: Program) -> None:
    row = program.ask(body_of([FIRST]))
    assert row.exchange
    response = client.get(reverse("captured-request", args=[row.public]))
    assert response.status_code == 302 and response["Location"] == row.exchange.get_absolute_url()
    assert client.get(response["Location"]).status_code == 200


def test_a_request_without_contents_has_a_page_too(client: Client, program: Program) -> None:
    row = program.ask(b"", b"{}", asks_model=False, path="/v1beta/models")
    shown = page(client, "captured-request", row.public)
    assert "/v1beta/models" in shown
    links = [reverse("captured-body", args=[row.public, what]) in shown for what in ("request", "answer")]
    assert links == [False, True]


def test_a_chat_completion_tells_what_was_said(client: Client, program: Program) -> None:
    asked = {"model": "gemini-x", "messages": [{"role": "user", "content": "Is <b>it</b> done?"}]}
    choices = [{"index": 0, "message": {"role": "assistant", "content": "Half an hour."}}]
    answer = {"object": "chat.completion", "choices": choices, "usage": {"prompt_tokens": 1_234}}
    sent, said = (json.dumps(one).encode() for one in (asked, answer))
    row = program.ask(sent, said, asks_model=False, path="/v1beta/openai/chat/completions", model="")
    shown = page(client, "captured-request", row.public)
    assert "Is &lt;b&gt;it&lt;/b&gt; done?" in shown and "Half an hour." in shown
    assert "<h1>gemini-x</h1>" in shown and "1,234 sent" in shown


def test_an_interaction_tells_what_was_said_and_what_was_before(client: Client, program: Program) -> None:
    asked = {"model": "gemini-x", "input": "Is <b>it</b> done?", "previous_interaction_id": "v1_before"}
    steps = [{"type": "model_output", "content": [{"type": "text", "text": "Half an hour."}]}]
    usage = {"total_input_tokens": 1_234, "total_output_tokens": 5, "total_thought_tokens": 6}
    answer = {"id": "v1_it", "object": "interaction", "status": "completed", "steps": steps, "usage": usage}
    sent, said = (json.dumps(one).encode() for one in (asked, answer))
    row = program.ask(sent, said, asks_model=False, path="/v1beta/interactions", model="")
    shown = page(client, "captured-request", row.public)
    assert "Is &lt;b&gt;it&lt;/b&gt; done?" in shown and "Half an hour." in shown
    assert "<h1>gemini-x</h1>" in shown and "1,234 sent" in shown and "11 received" in shown
    assert "<code>v1_it</code>, completed" in shown and "<code>v1_before</code>, whose messages" in shown
    kept = program.ask(b"", said, asks_model=False, path="/v1/interactions/v1_it?stream=false", model="")
    assert "Half an hour." in page(client, "captured-request", kept.public)


def test_bodies_are_downloaded_as_they_travelled(client: Client, program: Program) -> None:
    body, answer = body_of([FIRST]), b"<script>alert(1)</script>"
    row = program.ask(body, answer)
    for what, wanted in (("request", body), ("answer", answer)):
        response = client.get(reverse("captured-body", args=[row.public, what]))
        assert response.content == wanted and response["Content-Type"] == "application/octet-stream"
        assert response["Content-Disposition"].startswith("attachment")
    assert client.get(reverse("captured-body", args=[row.public, "other"])).status_code == 404


def test_a_session_is_deleted_with_its_requests(client: Client, program: Program) -> None:
    program.ask(body_of([FIRST]))
    last = program.ask(body_of([FIRST, model("Double it."), SECOND]))
    program.ask(body_of([SECOND]), name="other")
    assert last.exchange
    session = str(last.exchange.session.public)
    client.post(reverse("act"), {"act": "delete", "session": session, "next": reverse("capture")})
    shown = page(client)
    assert shown.count('class="card captured-session"') == 1 and "other" in shown
    client.post(reverse("act"), {"act": "restore", "session": session, "next": reverse("capture")})
    assert page(client).count('class="card captured-session"') == 2


def test_a_request_of_no_session_is_erased_alone(client: Client, program: Program) -> None:
    listing = program.ask(b"", asks_model=False, path="/v1beta/models")
    kept = program.ask(body_of([FIRST]))
    for row in (listing, kept):
        client.post(reverse("erase-captured", args=[row.public]))
    assert list(CapturedRequest.objects.all()) == [kept]


def test_a_request_that_another_page_has_erased_is_erased_as_well(client: Client, program: Program) -> None:
    row = program.ask(b"", asks_model=False, path="/v1beta/models")
    for _ in range(2):
        answer = client.post(reverse("erase-captured", args=[row.public]), follow=True)
        assert answer.redirect_chain == [(reverse("capture"), 302)]
        assert [str(message) for message in answer.context["messages"]] == [wording.erased(1)]


def test_a_cost_without_a_price_is_said_to_be_unknown(program: Program, client: Client) -> None:
    """Of a request that was not counted nothing is said of a price."""
    unknown = "model-without-a-price"
    program.ask(body_of([FIRST]), says("Double it.").replace(MODEL.encode(), unknown.encode()), model=unknown)
    program.ask(body_of([SECOND]), b"{}", 400, model=unknown)
    counted, refused = sorted(listed(User.objects.get(username="alice")), key=lambda one: -one.prompt)
    assert (counted.cost, refused.cost) == (None, None)
    said = page(client)
    assert said.count("· price unknown") == 1
    titles = [costs.sum_title(case) for case in ("unpriced", "uncounted")]
    assert [said.count(f'title="{title}"') for title in titles] == [1, 1]
