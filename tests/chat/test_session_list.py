"""Pin, archive, delete and undo, for one session and for several."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import CacheEntry, Session, Turn
from sessions_app.runs.run_poller import erase_left_behind
from sessions_app.wording.sessions import done
from tests import factories


@pytest.fixture
def sessions(alice: User) -> list[Session]:
    return [factories.make_session(alice, title=title) for title in ("One", "Two", "Three")]


def act(client: Client, name: str, *sessions: Session) -> str:
    data = {"act": name, "session": [str(session.public) for session in sessions]}
    return client.post(reverse("act"), data, follow=True).content.decode()


def listed(client: Client, **query: str) -> list[str]:
    page = client.get(reverse("sessions"), query).content.decode()
    return re.findall(r"<b>(One|Two|Three)</b>", page)


def test_pinned_sessions_stand_first(client: Client, sessions: list[Session]) -> None:
    assert listed(client) == ["Three", "Two", "One"]
    act(client, "pin", sessions[0])
    assert listed(client) == ["One", "Three", "Two"]
    act(client, "unpin", sessions[0])
    assert listed(client) == ["Three", "Two", "One"]


def test_the_archive_is_a_list_of_its_own(client: Client, sessions: list[Session]) -> None:
    assert done("archive", "Two", 1) in act(client, "archive", sessions[1])
    assert listed(client) == ["Three", "One"] and listed(client, archive="") == ["Two"]
    act(client, "unarchive", sessions[1])
    assert listed(client, archive="") == []


def test_several_are_deleted_and_brought_back_by_what_the_notice_holds(
    client: Client, sessions: list[Session]
) -> None:
    page = act(client, "delete", *sessions[:2])
    assert done("delete", "", 2) in page and listed(client) == ["Three"]
    form = page[page.index('<form class="undo"') :].split("</form>")[0]
    assert 'value="restore"' in form
    restored = [session for session in sessions if str(session.public) in form]
    act(client, "restore", *restored)
    assert listed(client) == ["Three", "Two", "One"]


def test_a_deleted_session_is_gone_for_its_owner(client: Client, sessions: list[Session]) -> None:
    act(client, "delete", sessions[0])
    assert client.get(sessions[0].get_absolute_url()).status_code == 404


@pytest.mark.parametrize("name", ["pin", "archive", "delete", "restore"])
def test_sessions_of_others_are_passed_over(stranger: Client, sessions: list[Session], name: str) -> None:
    act(stranger, name, *sessions)
    untouched = {"pinned_at": None, "archived_at": None, "deleted_at": None}
    assert Session.objects.filter(**untouched).count() == 3


@pytest.mark.parametrize(
    "data", [{"act": "erase", "session": []}, {"act": "delete"}, {"act": "pin", "session": ["x"]}]
)
def test_what_is_no_act_is_refused(client: Client, data: dict[str, object]) -> None:
    assert client.post(reverse("act"), data).status_code == 400


def test_it_never_leads_to_another_site(client: Client, sessions: list[Session]) -> None:
    data = {"act": "pin", "session": [str(sessions[0].public)], "next": "https://example.org/"}
    assert client.post(reverse("act"), data)["Location"] == reverse("sessions")


def test_it_takes_a_post_with_a_token(alice: User, client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert strict.post(reverse("act"), {}).status_code == 403
    assert client.get(reverse("act")).status_code == 405


def test_temporary_sessions_are_in_no_list(client: Client, alice: User) -> None:
    factories.make_session(alice, title="One", temporary=True)
    assert listed(client) == [] and listed(client, archive="") == []


def test_previews_have_no_markdown_and_times_the_persons_zone(
    client: Client, sessions: list[Session]
) -> None:
    factories.answered(sessions[0], "Hi", "## Heading\n\n**Bold** and `code`")
    Session.objects.filter(pk=sessions[0].pk).update(updated_at="2026-11-20T23:30Z")
    client.cookies["pipeweb_zone"] = "Asia/Tokyo"
    page = client.get(reverse("sessions")).content.decode()
    assert "Heading Bold and code" in page and "2026-11-21 08:30 JST" in page


def test_a_list_has_one_form_for_the_actions_on_all_its_rows(
    client: Client, sessions: list[Session], alice: User
) -> None:
    def forms() -> int:
        return client.get(reverse("sessions")).content.decode().count("csrfmiddlewaretoken")

    before = forms()
    factories.make_session(alice, title="Four")
    assert forms() == before


def test_a_zone_that_does_not_exist_is_utc(client: Client, sessions: list[Session]) -> None:
    client.cookies["pipeweb_zone"] = "../../etc/passwd"
    assert "UTC" in client.get(reverse("sessions")).content.decode()


def test_a_new_session_has_the_persons_zone(client: Client, alice: User) -> None:
    client.cookies["pipeweb_zone"] = "Europe/Lisbon"
    client.post(reverse("new-session"), {"quick": "1"})
    assert Session.objects.get(owner=alice).options.time_zone == "Europe/Lisbon"


def test_a_temporary_session_is_erased_by_its_owner_only(
    client: Client, stranger: Client, alice: User
) -> None:
    session = factories.make_session(alice, temporary=True)
    factories.make_history(session, 1)
    assert stranger.post(reverse("leave", args=[session.public])).status_code == 404
    assert "is erased" in client.post(reverse("leave", args=[session.public]), follow=True).content.decode()
    assert not Session.objects.exists() and not Turn.objects.exists()


def test_only_temporary_sessions_are_erased(client: Client, sessions: list[Session]) -> None:
    assert client.post(reverse("leave", args=[sessions[0].public])).status_code == 404


def test_temporary_sessions_are_swept_after_a_day(alice: User) -> None:
    old = timezone.now() - timedelta(days=2)
    for fields in ({"temporary": True}, {"temporary": True, "updated_at": old}, {"updated_at": old}):
        factories.make_session(alice, **fields)
    busy = factories.make_session(alice, temporary=True)
    factories.make_run(busy)
    Session.objects.filter(pk=busy.pk).update(updated_at=old)
    erase_left_behind()
    assert Session.objects.count() == 3


def test_a_deleted_session_lets_go_of_its_caches(client: Client, sessions: list[Session]) -> None:
    entry = CacheEntry.objects.create(
        fingerprint="a" * 64, name="cachedContents/x", model=factories.MODEL, tokens=2048, state="live"
    )
    entry.sessions.add(sessions[0])
    act(client, "delete", sessions[0])
    entry.refresh_from_db()
    assert entry.state == CacheEntry.State.TO_DELETE


def test_what_is_used_while_others_are_swept_is_left_alone(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = timezone.now() - timedelta(days=2)
    for _ in range(2):
        factories.make_session(alice, temporary=True, updated_at=old)
    erase = Session.erase

    def erase_while_the_other_is_used(session: Session) -> None:
        erase(session)
        Session.objects.update(updated_at=timezone.now())

    monkeypatch.setattr(Session, "erase", erase_while_the_other_is_used)
    erase_left_behind()
    assert Session.objects.count() == 1
