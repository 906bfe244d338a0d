import hashlib
from decimal import Decimal
from typing import Any

import orjson
from django.test import Client
from django.urls import reverse

from sessions_app.hosts import UNKNOWN
from sessions_app.models import Exchange, Session
from sessions_app.prompt.caching import CacheAction, CachePlan, PlanReason
from sessions_app.wording import break_lines, cache_plans, verdicts
from tests.factories import answered, make_exchange, make_run, play_flight
from tests.inspector.breaks import ROLLED, ROLLED_BREAK, rolled_over_exchange


def file(client: Client, exchange: Exchange, name: str) -> Any:
    response = client.get(reverse(name, args=[exchange.session.public, exchange.number]))
    assert response["Content-Disposition"].startswith("attachment")
    return orjson.loads(response.content)


def test_the_har_has_request_response_and_timings(client: Client, session: Session) -> None:
    exchange = answered(session, "Hé", "Hi")
    (entry,) = file(client, exchange, "exchange-har")["log"]["entries"]
    assert entry["request"]["postData"]["text"].encode() == exchange.sent_body()
    assert entry["response"]["status"] == 200
    assert entry["response"]["content"]["text"].count("data: ") == 2
    timings = entry["timings"]
    assert timings["send"] + timings["wait"] + timings["receive"] == entry["time"] == 480


def test_the_har_names_the_address_that_the_request_went_to(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    path = f"/v1beta/models/{exchange.model}:streamGenerateContent?alt=sse"
    for base_url, named in (("http://127.0.0.1:9/a", "http://127.0.0.1:9/a"), ("", UNKNOWN)):
        Exchange.objects.filter(pk=exchange.pk).update(base_url=base_url)
        (entry,) = file(client, exchange, "exchange-har")["log"]["entries"]
        assert entry["request"]["url"] == named + path


def test_the_har_never_holds_a_key(client: Client, session: Session) -> None:
    text = orjson.dumps(file(client, answered(session, "Hello", "Hi"), "exchange-har")).lower()
    assert b"api-key" not in text and b"authorization" not in text


def test_the_har_of_an_error_has_its_status(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    Exchange.objects.filter(pk=exchange.pk).update(error={"code": 429, "message": "Too many."})
    assert file(client, exchange, "exchange-har")["log"]["entries"][0]["response"]["status"] == 429


def test_the_har_of_what_was_never_answered_says_so(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    assert file(client, exchange, "exchange-har")["log"]["entries"][0]["response"]["status"] == 0


def test_the_bundle_tells_a_roll_over_as_one_and_not_as_an_edit(client: Client, session: Session) -> None:
    exchange = rolled_over_exchange(session)
    told = file(client, exchange, "exchange-bundle")["sentences"]["break_line"]
    assert told == f"{break_lines.place(ROLLED_BREAK)}: {verdicts.rolled_over(ROLLED)}."


def test_the_bundle_proves_the_request(client: Client, session: Session) -> None:
    _, exchange = play_flight(session)
    told = file(client, exchange, "exchange-bundle")
    request = told["request"]
    assert (
        hashlib.sha256(request["body"].encode()).hexdigest() == request["sha256"] == request["noted_sha256"]
    )
    assert [item["layer"] for item in told["items"]][-1] == "trigger"
    assert len(told["chunks"]) == 1


def test_the_bundle_has_codes_with_figures_and_what_pages_say_of_them(
    client: Client, session: Session
) -> None:
    plan = CachePlan(CacheAction.NONE, "", PlanReason.TOO_SMALL, tokens=9, minimum=1_024)
    _, exchange = play_flight(session)
    Exchange.objects.filter(pk=exchange.pk).update(cache_action=plan.action, plan_figures=plan.stored())
    told = file(client, exchange, "exchange-bundle")
    assert told["exchange"]["plan_figures"] == plan.stored()
    assert told["sentences"]["cache_plan"] == cache_plans.reason(plan)
    assert told["sentences"]["verdict"] == verdicts.sentence(exchange.found_verdict)


def test_the_bundle_keeps_money_exact(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(usd=Decimal("0.00012345"))
    assert file(client, exchange, "exchange-bundle")["exchange"]["usd"] == "0.00012345"


def test_another_persons_archives_do_not_exist(stranger: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    for name in ("exchange-har", "exchange-bundle"):
        assert stranger.get(reverse(name, args=[session.public, exchange.number])).status_code == 404


def test_the_head_of_a_download_is_that_of_the_download(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    of_exchange = ("request", "response", "har", "bundle")
    addresses = [
        *(reverse(f"exchange-{name}", args=[session.public, exchange.number]) for name in of_exchange),
        *(reverse(f"export-{form}", args=[session.public]) for form in ("json", "markdown")),
        reverse("spending-csv"),
        reverse("workspace-archive", args=[session.public]),
    ]
    for address in addresses:
        whole, head = client.get(address), client.head(address)
        assert head.status_code == 200, address
        assert head["Content-Disposition"] == whole["Content-Disposition"]
        assert head.getvalue() == b""
        assert whole.getvalue()
