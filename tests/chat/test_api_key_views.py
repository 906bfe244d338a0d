"""The page about the API key."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from pytest_django import Settings

from sessions_app.chat import api_key_views
from sessions_app.context import api_key
from sessions_app.gemini.key_check import KeyCheck
from sessions_app.key_codes import KeyOrigin, KeyProblem
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import AuditEntry

PAGE = "/key"
NOWHERE = override_settings(GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9")


KEY = "AI" + "za" + "marker" * 4


@pytest.fixture(autouse=True)
def no_key(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PIPEWEB_DATA = tmp_path
    monkeypatch.setattr(api_key.keys, "_in_process", "")


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check_key(key: str, *, base_url: str, transport: object) -> KeyCheck:
        return KeyCheck("works", "It works.", "")

    monkeypatch.setattr(api_key_views, "check_key", check_key)


@pytest.fixture
def root(alice: User, client: Client) -> Client:
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    return client


def test_administrators_are_told_how_to_set_a_key(root: Client) -> None:
    page = root.get(PAGE)
    assert page.status_code == 200
    assert "GEMINI_API_KEY" in page.content.decode()
    assert "no-store" in page["Cache-Control"]


@NOWHERE
def test_a_key_that_is_tested_comes_back_nowhere(root: Client) -> None:
    page = root.post(PAGE, {"key": "not-a-real-key-0123456789"})
    assert page.status_code == 422
    assert 'data-result="unreachable"' in page.content.decode()
    assert "not-a-real-key" not in page.content.decode()


def test_an_empty_form_is_a_malformed_key(root: Client) -> None:
    assert 'data-result="malformed"' in root.post(PAGE).content.decode()


@pytest.mark.parametrize("is_staff", [False, True])
def test_other_people_cannot_make_the_server_call(client: Client, alice: User, is_staff: bool) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=is_staff)
    assert client.post(PAGE, {"key": "x"}).status_code == 403
    assert "password" not in client.get(PAGE).content.decode()


def test_strangers_are_sent_to_sign_in(db: None) -> None:
    assert Client().get(PAGE).status_code == 302


@pytest.mark.parametrize("place", [KeyOrigin.PROCESS, KeyOrigin.DATA_FOLDER])
def test_a_key_that_works_is_kept_and_removed(root: Client, working: None, place: KeyOrigin) -> None:
    page = root.post(PAGE, {"key": KEY, "place": place.value}, follow=True)
    assert f'data-origin="{place.value}"' in page.content.decode()
    assert KEY not in page.content.decode()
    assert api_key.keys.current().text == KEY
    page = root.post("/key/remove/", follow=True)
    assert 'data-origin="none"' in page.content.decode()
    assert not api_key.keys.current().text


@NOWHERE
def test_a_key_that_does_not_work_is_not_kept(root: Client) -> None:
    root.post(PAGE, {"key": KEY, "place": "data_folder"})
    assert api_key.keys.current().origin is KeyOrigin.NONE


def test_a_place_that_does_not_exist_keeps_nothing(root: Client, working: None) -> None:
    root.post(PAGE, {"key": KEY, "place": "environment"})
    assert not api_key.keys.current().text


def test_a_key_of_the_environment_hides_the_field(root: Client, settings: Settings) -> None:
    settings.GEMINI_API_KEY = "another"
    text = root.get(PAGE).content.decode()
    assert 'data-origin="environment"' in text and "password" not in text
    assert root.post(PAGE, {"key": KEY}).status_code == 403
    assert root.post("/key/remove/").status_code == 403


def test_with_several_processes_the_page_says_what_counts(root: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    text = root.get(PAGE).content.decode()
    assert "data-several" in text and "password" not in text
    assert root.post(PAGE, {"key": KEY}).status_code == 403


def test_a_file_that_cannot_be_read_is_told_and_removed(root: Client, tmp_path: Path) -> None:
    path = tmp_path / api_key.FILE_NAME
    path.symlink_to(path)
    home = root.get("/")
    assert home.status_code == 200 and "the file with the API key cannot be read" in home.content.decode()
    text = root.get(PAGE).content.decode()
    assert 'data-origin="unreadable"' in text and "gemini_key" in text and "/key/remove/" in text
    assert 'data-origin="none"' in root.post("/key/remove/", follow=True).content.decode()
    assert not path.is_symlink()


@pytest.mark.parametrize("place", [KeyOrigin.PROCESS, KeyOrigin.DATA_FOLDER])
def test_a_file_that_cannot_be_replaced_or_removed_is_told(
    root: Client, working: None, tmp_path: Path, place: KeyOrigin
) -> None:
    (tmp_path / api_key.FILE_NAME).mkdir()
    page = root.post(PAGE, {"key": KEY, "place": place.value})
    assert page.status_code == 507 and KEY not in page.content.decode()
    assert f'data-problem="{KeyProblem.NOT_KEPT}"' in page.content.decode()
    page = root.post("/key/remove/")
    assert page.status_code == 507 and f'data-problem="{KeyProblem.NOT_REMOVED}"' in page.content.decode()
    assert not AuditEntry.objects.filter(action=LoggedAction.KEY_REMOVED).exists()


@pytest.mark.parametrize("is_staff", [False, True])
def test_other_people_remove_nothing(client: Client, alice: User, is_staff: bool) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=is_staff)
    assert client.post("/key/remove/").status_code == 403


def test_the_strip_is_there_until_its_person_closes_it(client: Client, bob: User) -> None:
    assert "emulator-strip" in client.get("/").content.decode()
    assert client.post("/key/strip/close/", {"next": "/"})["Location"] == "/"
    assert "emulator-strip" not in client.get("/").content.decode()
    client.force_login(bob)
    assert "emulator-strip" in client.get("/").content.decode()


def test_with_a_key_there_is_no_strip(client: Client, settings: Settings) -> None:
    settings.GEMINI_API_KEY = "another"
    assert "emulator-strip" not in client.get("/").content.decode()


def test_closing_the_strip_leads_to_no_other_site(client: Client) -> None:
    answer = client.post("/key/strip/close/", {"next": "https://elsewhere.invalid/"})
    assert answer["Location"] == "/"


def test_only_administrators_are_offered_the_form_by_the_strip(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert 'href="/key">Enter' not in client.get("/").content.decode()
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    assert 'href="/key">Enter' in client.get("/").content.decode()
