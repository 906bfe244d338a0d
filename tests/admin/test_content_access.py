"""Staff read content with a permission, a reason and for a while, and the person sees it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.errors import NotOpened
from sessions_app.log_codes import LoggedAction, RefusedReading
from sessions_app.models import AuditEntry, ContentGrant, Exchange, Run, Session
from tests.factories import answered, make_session

WORDS = "hedgehogwinter"
REASON = "Ticket 12: the answer broke off"


@pytest.fixture
def session(alice: User) -> Session:
    made = make_session(alice, title=WORDS)
    answered(made, WORDS, f"Answer: {WORDS}")
    made.refresh_from_db()
    return made


@pytest.fixture
def steward(db: None) -> User:
    person = User.objects.create_user("steward", is_staff=True)
    views = Permission.objects.filter(codename__startswith="view_")
    person.user_permissions.set([*views, Permission.objects.get(codename="read_content")])
    return person


@pytest.fixture
def staff(steward: User) -> Client:
    client = Client()
    client.force_login(steward)
    return client


def access_url(session: Session) -> str:
    return reverse("admin:sessions_app_session_read", args=[session.pk])


def open_it(staff: Client, session: Session) -> None:
    assert staff.post(access_url(session), {"reason": REASON}).status_code == 302


def pages(session: Session) -> Iterator[str]:
    yield session.get_absolute_url()
    yield reverse("exchanges", args=[session.public])
    yield reverse("exchange", args=[session.public, 1])
    yield reverse("exchange-request", args=[session.public, 1])


def test_without_a_reason_nothing_is_read(staff: Client, session: Session) -> None:
    assert {staff.get(page).status_code for page in pages(session)} == {404}
    for reason in ("", "curious", " " * 20):
        assert staff.post(access_url(session), {"reason": reason}).status_code == 200
    assert {staff.get(page).status_code for page in pages(session)} == {404}
    assert not ContentGrant.objects.exists()


def test_with_a_reason_the_chat_and_the_inspector_are_read(staff: Client, session: Session) -> None:
    open_it(staff, session)
    answers = [staff.get(page) for page in pages(session)]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert WORDS in answers[0].content.decode() and WORDS in answers[3].content.decode()
    assert all(REASON in answer.content.decode() for answer in answers[:3])


@pytest.mark.parametrize("lacking", ["permission", "staff", "active", "time", "closed"])
def test_every_condition_is_asked_each_time(
    staff: Client, steward: User, session: Session, lacking: str
) -> None:
    open_it(staff, session)
    match lacking:
        case "permission":
            steward.user_permissions.remove(Permission.objects.get(codename="read_content"))
        case "staff" | "active":
            User.objects.filter(pk=steward.pk).update(**{f"is_{lacking}": False})
        case "time":
            ContentGrant.objects.update(expires_at=timezone.now())
        case _:
            assert staff.post(access_url(session), {"close": "1"}).status_code == 302
    assert 200 not in {staff.get(page).status_code for page in pages(session)}


def test_it_is_for_one_session(staff: Client, session: Session, alice: User) -> None:
    other = make_session(alice)
    answered(other, WORDS, WORDS)
    open_it(staff, session)
    assert {staff.get(page).status_code for page in pages(other)} == {404}
    compared = staff.get(
        reverse("exchange", args=[session.public, 1]), {"tab": "diff", "with": f"{other.public}/1"}
    )
    change = reverse("exchange-change", args=[session.public, 1, 1, "0-0"])
    assert compared.status_code == 200
    assert compared.context["shown"].problem and not compared.context["shown"].is_elsewhere
    assert staff.get(change, {"of": str(other.public)}).status_code == 404


def test_it_is_for_30_minutes(staff: Client, session: Session) -> None:
    open_it(staff, session)
    left = ContentGrant.objects.get().expires_at - timezone.now()
    assert timedelta(minutes=29) < left <= timedelta(minutes=30)


def test_nothing_is_written_by_it(staff: Client, session: Session) -> None:
    open_it(staff, session)
    turn, run = session.turns.earliest("pk"), Run.objects.get()
    routes: dict[str, dict[str, object]] = {
        "act": {},
        "session-settings": {"public": session.public},
        "rename-session": {"public": session.public},
        "attach": {"public": session.public},
        "fork": {"public": session.public, "turn": turn.public},
        "delete-turns": {"public": session.public, "turn": turn.public},
        "repair-history": {"public": session.public, "run": run.public},
    }
    for name, arguments in routes.items():
        data = {"act": "delete", "session": str(session.public), "title": "Mine"}
        answer = staff.post(reverse(name, kwargs=arguments), data)
        assert answer.status_code in (302, 404, 405), name
    page = staff.get(session.get_absolute_url()).content.decode()
    assert "data-edit" not in page and "data-retry" not in page and "composer" not in page
    session.refresh_from_db()
    assert session.title == WORDS and session.deleted_at is None and session.turns.count() == 2


def test_each_page_stands_in_the_log_once(staff: Client, session: Session, alice: User) -> None:
    open_it(staff, session)
    for _ in range(2):
        for page in pages(session):
            staff.get(page)
    opened, *read = AuditEntry.objects.readings_of(alice.pk).order_by("pk")
    assert (opened.actor, opened.action, opened.key) == ("steward", "content_opened", str(session.public))
    assert opened.figures == {"reason": REASON, "minutes": 30}
    assert [entry.figures["page"] for entry in read] == [
        "session",
        "exchanges",
        "exchange 1",
        "exchange-request 1",
    ]
    assert {entry.figures["reason"] for entry in read} == {REASON}


def test_the_person_sees_at_once_who_read_what_and_why(
    staff: Client, client: Client, stranger: Client, session: Session
) -> None:
    page = reverse("readings")
    assert REASON not in client.get(page).content.decode()
    open_it(staff, session)
    shown = client.get(page).content.decode()
    assert REASON in shown and "steward" in shown and session.get_absolute_url() in shown
    assert REASON not in stranger.get(page).content.decode()


def test_who_lacks_the_permission_is_refused_and_logged(steward: User, session: Session) -> None:
    steward.user_permissions.remove(Permission.objects.get(codename="read_content"))
    client = Client()
    client.force_login(steward)
    assert client.post(access_url(session), {"reason": REASON}).status_code == 403
    assert AuditEntry.objects.filter(action=LoggedAction.CONTENT_REFUSED, actor="steward").exists()
    with pytest.raises(NotOpened) as raised:
        ContentGrant.objects.open(User.objects.get(pk=steward.pk), session, REASON)
    assert raised.value.reason == RefusedReading.NO_PERMISSION
    page = client.get(reverse("admin:sessions_app_session_change", args=[session.pk])).content.decode()
    assert access_url(session) not in page


def test_links_run_from_a_run_to_its_exchange_to_its_error_and_into_the_inspector(
    staff: Client, session: Session
) -> None:
    error = {"kind": "BadRequest", "code": 400, "message": WORDS}
    Exchange.objects.update(error=error)
    run, exchange = Run.objects.get(), Exchange.objects.get()
    of_exchange = reverse("admin:sessions_app_exchange_change", args=[exchange.pk])
    page = staff.get(reverse("admin:sessions_app_run_change", args=[run.pk])).content.decode()
    assert of_exchange in page and "BadRequest 400" in page and WORDS not in page
    inspector = reverse("exchange", args=[session.public, 1])
    assert f"{access_url(session)}?next={inspector}" in page
    page = staff.get(of_exchange).content.decode()
    assert (
        "BadRequest 400" in page and f"{access_url(session)}?next={inspector}" in page and WORDS not in page
    )
    answer = staff.post(access_url(session), {"reason": REASON, "next": inspector})
    assert answer["Location"] == inspector
    assert staff.get(access_url(session), {"next": inspector})["Location"] == inspector


@pytest.mark.parametrize("place", ["https://evil.example/", "/admin/", "//evil.example", "/s/../admin/"])
def test_the_page_of_reasons_leads_nowhere_else(staff: Client, session: Session, place: str) -> None:
    answer = staff.post(access_url(session), {"reason": REASON, "next": place})
    assert answer["Location"] == session.get_absolute_url()


def test_ones_own_session_needs_no_reason(client: Client, session: Session, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert client.get(access_url(session))["Location"] == session.get_absolute_url()
    assert not AuditEntry.objects.filter(action=LoggedAction.CONTENT_READ).exists()
