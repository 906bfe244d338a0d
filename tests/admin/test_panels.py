"""Commands are edited by admins; what people keep is counted, never shown."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from sessions_app.models import AllowedCommand, Memory, PanelState, Reading
from tests.admin.pages import detail_of, list_of, signed_in
from tests.factories import make_session

MARKER = "XYZZY-SECRET"
KEPT = ["memory", "reading", "panelstate"]


@pytest.fixture
def rows(alice: User) -> dict[str, int]:
    """A row of each kind, with words wherever a person or a program can put them."""
    session = make_session(alice)
    return {
        "memory": Memory.objects.remember(alice.pk, MARKER).pk,
        "reading": Reading.objects.create(session=session, key="git_log", text=MARKER).pk,
        "panelstate": PanelState.objects.create(session=session, key="todos", sha256="f" * 64).pk,
    }


@pytest.mark.parametrize("name", KEPT)
def test_lists_and_rows_show_no_words(root: Client, rows: dict[str, int], name: str) -> None:
    for page in (list_of(name), f"{list_of(name)}?q=alice", detail_of(name, rows[name])):
        response = root.get(page)
        assert response.status_code == 200 and MARKER not in response.content.decode()


@pytest.mark.parametrize("name", KEPT)
def test_kept_rows_are_not_changed_here(root: Client, rows: dict[str, int], name: str) -> None:
    assert root.post(detail_of(name, rows[name]), {"text": "x"}).status_code == 403
    assert root.get(reverse(f"admin:sessions_app_{name}_add")).status_code == 403


def add_command(browser: Client, argv: str) -> int:
    form = {"name": "disk", "argv": argv, "every": "60", "timeout": "5", "enabled": "on"}
    return browser.post(reverse("admin:sessions_app_allowedcommand_add"), form).status_code


def test_a_command_is_allowed_by_an_admin(root: Client) -> None:
    assert add_command(root, '["df", "-h", "."]') == 302
    assert AllowedCommand.objects.get().argv == ["df", "-h", "."]
    assert "df -h ." in root.get(list_of("allowedcommand")).content.decode()


def test_a_line_for_a_shell_is_not_a_command(root: Client) -> None:
    assert add_command(root, '"df -h | mail"') == 200
    assert not AllowedCommand.objects.exists()


def test_staff_who_may_only_look_allow_nothing(db: None) -> None:
    steward = User.objects.create_user("steward", is_staff=True)
    steward.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    assert add_command(signed_in(steward), '["df"]') == 403
