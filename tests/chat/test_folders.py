"""Folders of chats: whose they are, their order, what becomes of chats, and the lists that show them."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.chat.sidebar import FOLDER_CHATS, SIDE_LIMIT, Sidebar
from sessions_app.models import Folder, Session
from sessions_app.models.folder import FOLDER_LIMIT
from sessions_app.runs.history_edits import fork_session
from sessions_app.runs.person_erasure import erase_person
from sessions_app.wording import folders as wording
from tests.beside import beside
from tests.factories import answered, make_session


@pytest.fixture
def work(alice: User) -> Folder:
    return Folder.objects.make(alice.pk, "Work")


def names(owner: User) -> list[str]:
    return list(Folder.objects.of(owner).values_list("name", flat=True))


def move(client: Client, *chats: Session, **fields: str) -> int:
    form = {"session": [str(chat.public) for chat in chats], **fields}
    return client.post(reverse("move-to-folder"), form).status_code


def inside(folder: Folder) -> set[str]:
    return {chat.title for chat in folder.sessions.all()}


def test_a_new_folder_stands_after_the_others_and_moves(client: Client, alice: User, work: Folder) -> None:
    client.post(reverse("make-folder"), {"name": " Thesis "})
    assert names(alice) == ["Work", "Thesis"]
    thesis = Folder.objects.get(name="Thesis")
    address = reverse("order-folder", args=[thesis.public])
    for way, order in (("up", ["Thesis", "Work"]), ("up", ["Thesis", "Work"]), ("down", ["Work", "Thesis"])):
        assert client.post(address, {"way": way}).status_code == 302
        assert names(alice) == order
    assert client.post(address, {"way": "aside"}).status_code == 400


def test_a_name_is_needed_and_can_be_changed(client: Client, work: Folder) -> None:
    address = reverse("rename-folder", args=[work.public])
    assert 'value="Work"' in client.get(address).content.decode()
    assert "errorlist" in client.post(address, {"name": " "}).content.decode()
    assert "errorlist" in client.post(address, {"name": "x" * 61}).content.decode()
    client.post(address, {"name": "Play"})
    work.refresh_from_db()
    assert work.name == "Play"


def test_there_is_a_last_folder(client: Client, alice: User) -> None:
    rows = [Folder(owner=alice, name=f"{n}", position=n) for n in range(FOLDER_LIMIT)]
    Folder.objects.bulk_create(rows)
    refusal = wording.TOO_MANY.format(limit=FOLDER_LIMIT)
    assert refusal in client.post(reverse("make-folder"), {"name": "More"}).content.decode()
    chat = make_session(alice)
    form = {"session": str(chat.public), "name": "More"}
    assert refusal in client.post(reverse("move-to-folder"), form).content.decode()
    assert Folder.objects.count() == FOLDER_LIMIT


def test_chats_go_into_a_folder_into_a_new_one_and_out(client: Client, alice: User, work: Folder) -> None:
    one, two = make_session(alice, title="One"), make_session(alice, title="Two")
    assert move(client, one, two, folder=str(work.public)) == 302
    assert inside(work) == {"One", "Two"}
    assert move(client, two, name="Thesis") == 302
    assert inside(Folder.objects.get(name="Thesis")) == {"Two"} and inside(work) == {"One"}
    assert move(client, one, folder="") == 302
    assert inside(work) == set()


def test_what_was_moved_is_said(client: Client, alice: User, work: Folder) -> None:
    one, two = make_session(alice, title="One"), make_session(alice, title="Two")
    form = {"session": [one.public, two.public], "folder": work.public, "next": reverse("spending")}
    page = client.post(reverse("move-to-folder"), form, follow=True)
    assert page.redirect_chain[-1][0] == reverse("spending")
    assert wording.moved("One", 2, "Work") in page.content.decode()
    assert wording.moved("One", 1, None) == "“One” is in no folder."


def test_the_dialog_names_the_chat_and_its_folder(client: Client, alice: User, work: Folder) -> None:
    chat = make_session(alice, title="One", folder=work)
    page = client.get(reverse("choose-folder"), {"session": str(chat.public)}).content.decode()
    assert "“One”" in page and re.search(rf'value="{work.public}" checked', page)
    assert client.get(reverse("choose-folder")).status_code == 404


def test_chats_stay_when_their_folder_goes(client: Client, alice: User, work: Folder) -> None:
    chat = make_session(alice, title="One", folder=work)
    listed = f"{reverse('sessions')}?folder={work.public}"
    page = client.post(reverse("delete-folder", args=[work.public]), {"next": listed}, follow=True)
    assert page.redirect_chain[-1][0] == reverse("sessions")
    assert wording.DELETED.format(folder="Work") in page.content.decode()
    chat.refresh_from_db()
    assert chat.folder is None and names(alice) == []


def test_a_collapsed_folder_stays_collapsed(client: Client, work: Folder) -> None:
    address = reverse("collapse-folder", args=[work.public])
    opened = f'data-collapse="{address}" open'
    assert opened in client.get(reverse("home")).content.decode()
    client.post(address, {"on": "on"})
    assert opened not in client.get(reverse("home")).content.decode()
    client.post(address)
    assert opened in client.get(reverse("home")).content.decode()


def test_nobody_else_reaches_a_folder(stranger: Client, bob: User, alice: User, work: Folder) -> None:
    own = make_session(bob)
    for route in ("rename-folder", "order-folder", "collapse-folder", "delete-folder"):
        form = {"name": "Mine", "way": "up"}
        assert stranger.post(reverse(route, args=[work.public]), form).status_code == 404
    assert move(stranger, own, folder=str(work.public)) == 404
    assert move(stranger, make_session(alice), folder="") == 404
    for route in ("sessions", "home"):
        assert stranger.get(reverse(route), {"folder": str(work.public)}).status_code == 404
    assert stranger.post(reverse("new-session"), {"quick": "1", "folder": work.public}).status_code == 404
    work.refresh_from_db()
    assert (work.name, inside(work)) == ("Work", set())


@pytest.mark.parametrize("public", ["", "x", "00000000-0000-4000-8000-000000000000"])
def test_an_unknown_folder_is_an_unknown_page(client: Client, public: str) -> None:
    assert client.get(reverse("sessions"), {"folder": public}).status_code == 404


def test_a_chat_of_a_folder_stands_there_only(alice: User, work: Folder) -> None:
    make_session(alice, title="Free")
    make_session(alice, title="In it", folder=work)
    make_session(alice, title="Above", folder=work, pinned_at=timezone.now())
    make_session(alice, title="Away", folder=work, archived_at=timezone.now())
    side = Sidebar(alice)
    shown = {group.title: [chat.title for chat in group.sessions] for group in side.groups}
    assert shown == {"Pinned": ["Above"], "Today": ["Free"]}
    assert [[chat.title for chat in one.sessions] for one in side.folders] == [["In it"]]


def test_a_folder_whose_chats_stand_elsewhere_is_not_called_empty(
    client: Client, alice: User, work: Folder
) -> None:
    make_session(alice, title="Away", folder=work, archived_at=timezone.now())
    assert "No chat is listed here." in client.get(reverse("home")).content.decode()
    page = client.get(reverse("sessions"), {"folder": str(work.public)}).content.decode()
    assert "No chat of “Work” is listed." in page


def test_a_long_folder_leads_to_its_list(client: Client, alice: User, work: Folder) -> None:
    for n in range(FOLDER_CHATS + 1):
        make_session(alice, title=f"Chat {n}", folder=work)
    (shown,) = Sidebar(alice).folders
    assert len(shown.sessions) == FOLDER_CHATS and shown.has_more
    assert "All chats of “Work”" in client.get(reverse("home")).content.decode()
    page = client.get(reverse("sessions"), {"folder": str(work.public)}).content.decode()
    assert page.count("<small title=") == FOLDER_CHATS + 1


def test_the_list_of_a_folder_has_its_chats_only(client: Client, alice: User, work: Folder) -> None:
    make_session(alice, title="Free")
    make_session(alice, title="In it", folder=work)
    page = client.get(reverse("sessions"), {"folder": str(work.public)}).content.decode()
    main = page[page.index("<main") :]
    assert "<b>In it</b>" in main and "<b>Free</b>" not in main
    assert '<h1 id="list-title">Work</h1>' in main


def test_a_new_chat_begins_in_the_folder_but_a_temporary_one_in_none(
    client: Client, alice: User, work: Folder
) -> None:
    page = client.get(reverse("home"), {"folder": str(work.public)}).content.decode()
    assert f'name="folder" autocomplete="off" value="{work.public}"' in page
    form = {"quick": "1", "folder": str(work.public)}
    client.post(reverse("new-session"), form)
    assert Session.objects.latest("pk").folder == work
    client.post(reverse("new-session"), form | {"temporary": "on"})
    assert Session.objects.latest("pk").folder is None


def test_a_fork_stands_beside_its_chat(alice: User, work: Folder) -> None:
    session = make_session(alice, folder=work)
    exchange = answered(session, "Hello", "Hello.")
    assert exchange.run.trigger
    assert fork_session(session.pk, exchange.run.trigger.public).folder == work


def test_erasing_a_person_erases_their_folders_only(alice: User, bob: User, work: Folder) -> None:
    make_session(alice, folder=work)
    other = Folder.objects.make(bob.pk, "Bob's")
    erase_person(alice, by=None)
    assert list(Folder.objects.all()) == [other]


def test_a_drop_gives_the_list_of_the_sidebar(client: Client, alice: User, work: Folder) -> None:
    chat = make_session(alice, title="One")
    form = {"session": str(chat.public), "folder": str(work.public), "at": str(chat.public)}
    htmx = {"HX-Request": "true", "HX-Target": "side-list"}
    page = client.post(reverse("move-to-folder"), form, headers=htmx).content.decode()
    assert page.startswith('<div class="side-list"') and 'aria-current="page"' in page


def test_a_long_sidebar_says_so_and_counts_all(client: Client, alice: User, work: Folder) -> None:
    rows = [Session(owner=alice, title=f"Chat {n}", model="m") for n in range(SIDE_LIMIT)]
    Session.objects.bulk_create(rows)
    make_session(alice, folder=work)
    assert "All chats (" not in client.get(reverse("home")).content.decode()
    make_session(alice, title="One too many")
    page = client.get(reverse("home")).content.decode()
    assert f"All chats ({SIDE_LIMIT + 2})" in page and f"The newest {SIDE_LIMIT} stand here." in page


@pytest.mark.django_db(transaction=True)
def test_two_steps_at_once_are_two_steps(alice: User) -> None:
    for name in ("A", "B", "C"):
        Folder.objects.make(alice.pk, name)
    last = Folder.objects.get(name="C")
    with beside() as begin:
        with transaction.atomic():
            last.move(-1)
            second = begin(lambda: Folder.objects.get(name="C").move(-1))
        second.result(60)
    assert names(alice) == ["C", "A", "B"]


@pytest.mark.parametrize(
    ("name", "form"),
    [("order-folder", {"way": "up"}), ("rename-folder", {"name": "X"}), ("collapse-folder", {})],
)
def test_a_folder_that_another_page_deletes_at_the_same_moment_fails_nothing(
    client: Client, work: Folder, monkeypatch: pytest.MonkeyPatch, name: str, form: dict[str, str]
) -> None:
    def found_and_gone(*_: object) -> Folder:
        Folder.objects.filter(pk=work.pk).delete()
        return work

    monkeypatch.setattr("sessions_app.chat.folder_views.own_folder", found_and_gone)
    assert client.post(reverse(name, args=[work.public]), form).status_code in {204, 302}
