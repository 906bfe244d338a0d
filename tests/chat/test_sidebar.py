"""The sidebar: chats by age, and what a search finds."""

import uuid
from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.chat.sidebar import SideChat, grouped
from tests.factories import answered, make_session

TODAY = date(2026, 11, 23)
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def chat(days: int, *, pinned: bool = False) -> SideChat:
    return changed_at(NOON - timedelta(days=days), NOON if pinned else None)


def changed_at(moment: datetime, pinned_at: datetime | None = None) -> SideChat:
    return SideChat(uuid.uuid4(), "A chat", moment, pinned_at, None)


@pytest.mark.parametrize(
    ("days", "title"),
    [
        (0, "Today"),
        (1, "Yesterday"),
        (2, "Previous 7 days"),
        (7, "Previous 7 days"),
        (8, "Previous 30 days"),
        (30, "Previous 30 days"),
        (31, "Older"),
    ],
)
def test_a_chat_stands_under_its_age(days: int, title: str) -> None:
    with timezone.override("UTC"):
        assert [group.title for group in grouped([chat(days)], TODAY)] == [title]


def test_pinned_chats_stand_first_whatever_their_age() -> None:
    with timezone.override("UTC"):
        groups = list(grouped([chat(400, pinned=True), chat(0), chat(0), chat(9)], TODAY))
    shown = [(group.title, len(group.sessions)) for group in groups]
    assert shown == [("Pinned", 1), ("Today", 2), ("Previous 30 days", 1)]


def test_the_day_is_that_of_the_reader() -> None:
    late = changed_at(datetime(2026, 11, 22, 23, 30, tzinfo=UTC))
    with timezone.override("Asia/Tokyo"):
        assert [group.title for group in grouped([late], TODAY)] == ["Today"]


def test_each_page_lists_the_own_chats_and_nobody_elses(client: Client, alice: User, bob: User) -> None:
    make_session(alice, title="Mine")
    make_session(bob, title="Foreign")
    for name in ("home", "sessions", "spending", "key"):
        page = client.get(reverse(name)).content.decode()
        assert ">Mine</span>" in page and "Foreign" not in page


def test_archived_and_temporary_chats_are_left_out(client: Client, alice: User) -> None:
    make_session(alice, title="Put away", archived_at=timezone.now())
    make_session(alice, title="Unlisted", temporary=True)
    page = client.get(reverse("home")).content.decode()
    assert "Put away" not in page and "Unlisted" not in page


def test_a_search_finds_messages_and_nothing_lists_the_chats_again(client: Client, alice: User) -> None:
    session = make_session(alice, title="Animals")
    answered(session, "Where do zebras cross?", "Anywhere.")
    found = client.get(reverse("side-list"), {"q": "zebras"}).content.decode()
    assert "<mark>zebras</mark>" in found
    listed = client.get(reverse("side-list"), {"q": "", "at": str(session.public)}).content.decode()
    assert 'aria-current="page"' in listed and "Animals" in listed


def test_a_search_in_the_list_leaves_the_chats_in_the_sidebar(client: Client, alice: User) -> None:
    make_session(alice, title="Animals")
    page = client.get(reverse("sessions"), {"q": "zebras"}).content.decode()
    assert page.count("Nobody has said") == 1 and ">Animals</span>" in page


def test_renaming_in_the_sidebar_gives_its_row(client: Client, alice: User) -> None:
    session = make_session(alice, title="Before")
    address = reverse("rename-session", args=[session.public]) + "?side"
    assert 'id="side-title"' in client.get(address).content.decode()
    row = client.post(address, {"title": "After"}, headers={"HX-Request": "true"}).content.decode()
    assert ">After</span>" in row and "<small" not in row
    assert "aria-current" not in row


def test_the_row_of_the_chat_that_is_open_stays_marked(client: Client, alice: User) -> None:
    session = make_session(alice, title="Before")
    address = reverse("rename-session", args=[session.public]) + "?side"
    shown = f"http://testserver{session.get_absolute_url()}inspect/"
    headers = {"HX-Request": "true", "HX-Current-URL": shown}
    for row in (
        client.post(address, {"title": "After"}, headers=headers),
        client.get(f"{address}&cancel=1", headers=headers),
    ):
        assert 'aria-current="page"' in row.content.decode()


def test_deleting_the_chat_that_is_open_leads_to_the_others(client: Client, alice: User) -> None:
    session = make_session(alice)
    form = {"act": "delete", "session": session.public, "next": session.get_absolute_url()}
    assert client.post(reverse("act"), form)["Location"] == reverse("sessions")
    form |= {"session": make_session(alice).public, "next": reverse("spending")}
    assert client.post(reverse("act"), form)["Location"] == reverse("spending")
