"""What the admin's pages show, what they cost, and what they never show."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import (
    Allowance,
    CacheEntry,
    Exchange,
    PromptText,
    RetentionRules,
    Run,
    Turn,
)
from sessions_app.prompt.caching import VerdictCode
from sessions_app.wording.verdicts import LABELS
from tests.admin.pages import MARKER, detail_of, list_of, marked_session, signed_in
from tests.factories import (
    MODEL,
    make_exchange,
    make_history,
    make_run,
    make_session,
)

ROWS = ["session", "turn", "run", "exchange", "rawchunk", "cacheentry", "prompttext"]
RECORDS = ["session", "turn", "run", "exchange", "rawchunk", "cacheentry"]


@pytest.fixture
def staff(db: None) -> Client:
    """A browser in which a member of staff is signed in, who may view everything and change nothing."""
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return signed_in(person)


@pytest.mark.parametrize("name", ROWS)
def test_each_list_opens_and_can_be_searched(root: Client, alice: User, name: str) -> None:
    session = make_session(alice)
    make_history(session, 2)
    for words in ("", "alice", str(session.public), MODEL):
        assert root.get(list_of(name), {"q": words} if words else {}).status_code == 200


@pytest.mark.parametrize(("name", "column"), [("exchange", "total_ms"), ("rawchunk", "ms")])
def test_a_time_is_shown_as_people_read_it(root: Client, alice: User, name: str, column: str) -> None:
    exchange = make_history(make_session(alice), 1)[0]
    rows = Exchange.objects.filter(pk=exchange.pk) if name == "exchange" else exchange.chunks.filter(seq=0)
    rows.update(**{column: 10437.927885000136})
    row = rows.get()
    for page in (list_of(name), detail_of(name, row.pk)):
        shown = root.get(page).content.decode()
        assert "10,437.9 ms" in shown and "10437.927885000136" not in shown


@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.parametrize("name", ROWS)
def test_each_list_costs_the_same_however_long(
    root: Client, alice: User, name: str, count: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_history(make_session(alice), count)
    with django_assert_max_num_queries(8):
        root.get(list_of(name))


@pytest.mark.parametrize("name", RECORDS)
def test_lists_load_no_content(
    root: Client, alice: User, name: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_history(make_session(alice), 2)
    with django_assert_max_num_queries(8) as queries:
        root.get(list_of(name))
    columns = (
        "manifest",
        "background",
        '"notes"',
        '"sessions_app_blob"."body"',
        '"sessions_app_turn"."text"',
    )
    assert not [
        query for query in queries.captured_queries if any(column in query["sql"] for column in columns)
    ]


@pytest.mark.parametrize("who", ["staff", "root"])
@pytest.mark.parametrize("name", ["session", "turn", "run", "exchange", "rawchunk"])
def test_nobody_reads_content_here(request: pytest.FixtureRequest, alice: User, who: str, name: str) -> None:
    marked_session(alice)
    browser: Client = request.getfixturevalue(who)
    listed = browser.get(list_of(name)).content.decode()
    links = re.findall(rf'href="(/admin/sessions_app/{name}/\d+/change/)', listed)
    assert links
    for page in (listed, *(browser.get(link).content.decode() for link in links)):
        assert MARKER not in page


def test_a_delete_page_quotes_no_content(root: Client, alice: User) -> None:
    session = marked_session(alice)
    page = root.get(reverse("admin:sessions_app_session_delete", args=[session.pk])).content.decode()
    assert MARKER not in page
    assert "Exchanges: 2" in page


@pytest.mark.parametrize("name", RECORDS)
def test_records_can_not_be_added(root: Client, name: str) -> None:
    assert root.get(reverse(f"admin:sessions_app_{name}_add")).status_code == 403


@pytest.mark.parametrize("name", RECORDS)
def test_records_can_not_be_changed(root: Client, alice: User, name: str) -> None:
    make_history(make_session(alice), 1)
    CacheEntry.objects.create(fingerprint="f" * 64, model=MODEL, route="r", state="refused")
    pk = re.findall(rf"/admin/sessions_app/{name}/(\d+)/change/", root.get(list_of(name)).content.decode())[0]
    assert root.post(detail_of(name, pk), {"model": "other"}).status_code == 403


@pytest.mark.parametrize("name", ["turn", "run", "exchange", "rawchunk", "cacheentry"])
def test_evidence_can_not_be_deleted_singly(root: Client, alice: User, name: str) -> None:
    make_history(make_session(alice), 1)
    assert root.post(reverse(f"admin:sessions_app_{name}_delete", args=[1])).status_code in (302, 403)
    assert root.post(list_of(name), {"action": "delete_selected", "_selected_action": "1"}).status_code in (
        200,
        302,
    )
    assert Turn.objects.count() == 2
    assert Exchange.objects.count() == 1


def test_blobs_and_sources_have_no_page(root: Client) -> None:
    for name in ("blob", "source", "signinlink"):
        assert root.get(f"/admin/sessions_app/{name}/").status_code == 404


def test_the_library_is_edited_here(root: Client) -> None:
    typed = {"kind": "role", "name": "Pilot", "layer": "static", "summary": "", "variables": ""}
    root.post(reverse("admin:sessions_app_prompttext_add"), {**typed, "body": "You fly."})
    text = PromptText.objects.get(name="Pilot")
    root.post(detail_of("prompttext", text.pk), {**typed, "body": "You land."})
    text.refresh_from_db()
    assert text.body == "You land."


def test_a_session_shows_its_figures(root: Client, alice: User) -> None:
    session = make_session(alice)
    make_history(session, 2)
    Exchange.objects.filter(number=2).update(error={"kind": "QuotaExceeded"})
    row = re.sub(r"<[^>]+>", " ", root.get(list_of("session")).content.decode())
    assert re.search(
        rf"{str(session.public)[:8]}\s+alice\s+{MODEL}\s+4\s+2\s+2,680\s+85 %\s+\$0.00\s+QuotaExceeded", row
    )


def test_a_person_without_staff_rights_is_turned_away(client: Client) -> None:
    assert client.get(list_of("session")).status_code == 302


def test_the_admin_works_under_the_content_policy(root: Client, alice: User) -> None:
    make_history(make_session(alice), 1)
    response = root.get(list_of("exchange"))
    assert "unsafe-inline" not in response["Content-Security-Policy"]
    assert not re.search(
        r"<script(?![^>]*\bsrc=)(?![^>]*type=\"application/json\")", response.content.decode()
    )
    assert not re.search(r"\s(?:style|onclick|onchange)=", response.content.decode())


def test_a_verdict_is_named_as_the_inspector_names_it(root: Client, alice: User) -> None:
    exchange = make_exchange(make_run(make_session(alice)), [])
    Exchange.objects.update(verdict=VerdictCode.OUR_ROLLOVER)
    for page in (root.get(list_of("exchange")), root.get(detail_of("exchange", exchange.pk))):
        words = re.sub(r"<option.*?</option>|<a .*?</a>", "", page.content.decode())
        assert LABELS[VerdictCode.OUR_ROLLOVER] in words and VerdictCode.OUR_ROLLOVER.value not in words


def test_a_turn_is_named_by_the_number_that_the_chat_shows(root: Client, alice: User) -> None:
    session = make_session(alice)
    make_history(session, 2)
    last = Turn.objects.get(session=session, depth=3)
    shown = root.get(list_of("turn")).content.decode()
    assert re.search(r'class="field-label"><a [^>]*>4</a>', shown)
    detail = root.get(detail_of("turn", last.pk)).content.decode()
    assert re.search(r'field-follows.*?readonly">3<', detail, re.DOTALL)


def test_a_run_is_named_by_its_requests(staff: Client, alice: User) -> None:
    session = make_session(alice)
    two = make_run(session, "Hi")
    for requests in (1, 2, 0):
        session.runs.update(status=Run.Status.COMPLETED)
        run = make_run(session, "Hi")
        two = run if requests == 2 else two
        for step in range(requests):
            make_exchange(run, [], step=step + 1)
    page = staff.get(list_of("run")).content.decode()
    labels = re.findall(r'<th class="field-label">(?:<a[^>]*>)?([^<]*)<', page)
    assert labels == ["nothing was sent", "exchanges 2–3", "exchange 1", "nothing was sent"]
    detail = staff.get(detail_of("exchange", two.exchanges.earliest("number").pk)).content.decode()
    assert str(two.public) not in detail and "run of" in detail


def test_a_history_has_old_and_new_for_whoever_may_see_the_log(root: Client, alice: User) -> None:
    allowance = Allowance.objects.create(owner=alice, warn_percent=80)
    fields = {"owner": alice.pk, "usd_per_day": "2", "warn_percent": "75"}
    root.post(detail_of("allowance", allowance.pk), fields)
    place = reverse("admin:sessions_app_allowance_history", args=[allowance.pk])
    page = re.sub(r"<[^>]+>", " ", root.get(place).content.decode())
    assert "warn percent: 80 → 75" in page and "root" in page
    person = User.objects.create_user("steward", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename="view_allowance"))
    assert "80 → 75" not in signed_in(person).get(place).content.decode()


def test_tokens_of_a_session_are_those_of_prompts_answers_and_thoughts(root: Client, alice: User) -> None:
    session = make_session(alice)
    for exchange, counts in zip(make_history(session, 2), ((1_000, 20, 300), (4_000, 50, None)), strict=True):
        counted = dict(zip(("prompt_tokens", "output_tokens", "thought_tokens"), counts, strict=True))
        Exchange.objects.filter(pk=exchange.pk).update(**counted)
    page = root.get(list_of("session")).content.decode()
    assert re.search('class="field-tokens">5,370<', page)


def test_what_is_in_the_trash_says_when_it_goes(root: Client, alice: User) -> None:
    RetentionRules.objects.all().delete()
    RetentionRules.objects.create(trash_days=5)
    session = make_session(alice, deleted_at=datetime(2026, 11, 20, tzinfo=UTC))
    assert "25 Nov 2026" in root.get(detail_of("session", session.pk)).content.decode()


def test_the_terms_of_a_price_are_folded_json(root: Client, alice: User) -> None:
    exchange = make_history(make_session(alice), 1)[0]
    Exchange.objects.filter(pk=exchange.pk).update(layer_tokens={"<b>static": 7}, usage={"x": MARKER})
    page = root.get(detail_of("exchange", exchange.pk)).content.decode()
    assert "<details><summary>JSON" in page and "&lt;b&gt;static&quot;: 7" in page and MARKER not in page


@pytest.mark.parametrize("name", ["session", "run", "turn"])
def test_a_row_is_read_once_to_be_shown_and_logged(root: Client, alice: User, name: str) -> None:
    make_history(make_session(alice), 1)
    pk = re.findall(rf"/admin/sessions_app/{name}/(\d+)/change/", root.get(list_of(name)).content.decode())[0]
    with CaptureQueriesContext(connection) as queries:
        root.get(detail_of(name, int(pk)))
    table = f'FROM "sessions_app_{name}"'
    own = [
        q["sql"]
        for q in queries
        if q["sql"].startswith("SELECT")
        and f"{table} " in q["sql"]
        and f'"sessions_app_{name}"."id" = {pk}' in q["sql"]
    ]
    assert len(own) == 1
