"""A person's folder goes with the person, and nothing else does."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def workspaces(tmp_path: Path, settings: Settings) -> Path:
    settings.PIPEWEB_WORKSPACES = tmp_path / "workspaces"
    return tmp_path / "workspaces"


@pytest.fixture
def folder(alice: User) -> Path:
    workspace_of(alice.pk).write_text("notes/secret.txt", "secret")
    return workspace_of(alice.pk).root


def by_form(person: User) -> None:
    place = reverse("admin:auth_user_delete", args=[person.pk])
    assert administrator().post(place, {"post": "yes"}).status_code == 302


def by_action(person: User) -> None:
    data = {"action": "delete_selected", "_selected_action": [str(person.pk)], "post": "yes"}
    assert administrator().post(reverse("admin:auth_user_changelist"), data).status_code == 302


def administrator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.mark.parametrize(
    "delete",
    [by_form, by_action, lambda person: person.delete(), lambda person: User.objects.all().delete()],
    ids=["form", "action", "code", "queryset"],
)
def test_the_folder_goes_however_the_person_is_deleted(
    alice: User, folder: Path, workspaces: Path, delete: Callable[[User], object]
) -> None:
    delete(alice)
    assert not User.objects.filter(username="alice").exists()
    assert not folder.exists() and workspaces.is_dir()


def test_the_folders_of_others_stay(alice: User, bob: User, folder: Path) -> None:
    workspace_of(bob.pk).write_text("mine.txt", "mine")
    alice.delete()
    assert workspace_of(bob.pk).read_text("mine.txt") == "mine"


def test_a_person_without_a_folder_can_be_deleted(alice: User, workspaces: Path) -> None:
    alice.delete()
    assert not workspaces.exists()


def test_the_folder_stays_when_the_deletion_is_undone(alice: User, folder: Path) -> None:
    with transaction.atomic():
        alice.delete()
        transaction.set_rollback(True)
    assert (folder / "notes/secret.txt").read_text() == "secret"


def test_what_symlinks_lead_to_stays(alice: User, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    (folder / "folder").symlink_to(outside)
    (folder / "file.txt").symlink_to(outside / "kept.txt")
    alice.delete()
    assert not folder.exists() and (outside / "kept.txt").read_text() == "kept"


def test_a_folder_that_is_a_symlink_goes_alone(alice: User, tmp_path: Path, workspaces: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    workspaces.mkdir()
    link = workspaces / str(alice.pk)
    link.symlink_to(outside)
    alice.delete()
    assert not link.is_symlink() and (outside / "kept.txt").read_text() == "kept"


def test_a_folder_that_cannot_be_deleted_undoes_nothing(
    alice: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError

    monkeypatch.setattr("sessions_app.context.workspaces.shutil.rmtree", refuse)
    alice.delete()
    assert not User.objects.filter(username="alice").exists()
