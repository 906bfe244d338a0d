"""MCP servers are entered in the admin; what is secret is kept in a file and shown by its end at most."""

import re
import stat
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from pytest_django import Settings

from sessions_app.context import mcp_secrets
from sessions_app.context.mcp_logs import log_path
from sessions_app.context.mcp_secrets import FOLDER, secrets_of
from sessions_app.log_codes import LoggedAction
from sessions_app.mcp_codes import ServerProblem
from sessions_app.models import AuditEntry, McpServer, McpTool
from sessions_app.wording.mcp import LOG_UNREADABLE, PROBLEMS, SECRETS_NOT_KEPT
from tests.mcp.entering import HOSTILE, enter

ADD = "admin:sessions_app_mcpserver_add"
SECRET = "a-long-secret-value-9876"


@pytest.fixture(autouse=True)
def data(settings: Settings, tmp_path: Path) -> Path:
    settings.PIPEWEB_DATA = tmp_path
    settings.PIPEWEB_MCP_COMMANDS = [sys.executable]
    return tmp_path


def fields(**values: str) -> dict[str, str]:
    """The form of a server over its standard streams."""
    return {
        "name": "test",
        "title": "Test",
        "transport": "stdio",
        "is_on": "on",
        "approval": "ask",
        "command": sys.executable,
        "arguments": f"{HOSTILE}\nplain",
        "url": "",
        "secrets": "",
        "for_everybody": "on",
        "start_seconds": "20",
        "list_seconds": "20",
        "call_seconds": "60",
        "idle_seconds": "300",
        "tools-TOTAL_FORMS": "0",
        "tools-INITIAL_FORMS": "0",
        **values,
    }


@pytest.mark.django_db(transaction=True)
def test_saving_lists_the_tools_and_keeps_secrets_out_of_every_page_and_row(root: Client, data: Path) -> None:
    done = root.post(reverse(ADD), fields(secrets=f"TOKEN={SECRET}\nSHORT=abc"), follow=True)
    assert "2 tools" in done.content.decode()
    server = McpServer.objects.get()
    assert set(McpTool.objects.values_list("function", flat=True)) == {"test__echo", "test__count"}
    assert dict(secrets_of(server)) == {"TOKEN": SECRET, "SHORT": "abc"}
    (file,) = (data / FOLDER).iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    page = root.get(reverse("admin:sessions_app_mcpserver_change", args=[server.pk])).content.decode()
    assert "TOKEN=…9876" in page and SECRET not in page and "SHORT=…<" in page
    said = str([(entry.action, entry.figures) for entry in AuditEntry.objects.all()])
    assert LoggedAction.SERVER_CHANGED in said and SECRET not in said


@pytest.mark.django_db(transaction=True)
def test_a_secret_is_replaced_and_removed_by_name(root: Client) -> None:
    root.post(reverse(ADD), fields(secrets="ONE=1\nTWO=2"))
    server = McpServer.objects.get()
    place = reverse("admin:sessions_app_mcpserver_change", args=[server.pk])
    rows = list(server.tools.order_by("function"))
    inline = {"tools-TOTAL_FORMS": "2", "tools-INITIAL_FORMS": "2"}
    for index, tool in enumerate(rows):
        inline |= {f"tools-{index}-id": str(tool.pk), f"tools-{index}-approval": "never"}
    assert root.post(place, fields(secrets="ONE=\nTWO=22", **inline)).status_code == 302
    assert dict(secrets_of(server)) == {"TWO": "22"}
    assert set(server.tools.values_list("approval", flat=True)) == {"never"}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"command": "/bin/sh"}, "command"),
        ({"secrets": "no value"}, "secrets"),
        ({"secrets": "1NAME=x"}, "secrets"),
        ({"transport": "http", "url": ""}, "url"),
        ({"transport": "http", "url": "ftp://127.0.0.1/"}, "url"),
        ({"transport": "http", "url": "http://me:word@127.0.0.1/"}, "url"),
        ({"name": "has spaces"}, "name"),
    ],
)
@pytest.mark.django_db
def test_what_cannot_be_used_is_refused_at_its_field(root: Client, wrong: dict[str, str], field: str) -> None:
    page = root.post(reverse(ADD), fields(**wrong))
    assert page.status_code == 200 and field in page.context["adminform"].form.errors
    assert not McpServer.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_server_that_does_not_start_is_kept_with_its_problem(root: Client) -> None:
    root.post(reverse(ADD), fields(arguments=f"{HOSTILE}\ndie_at_start"))
    server = McpServer.objects.get()
    assert server.problem["code"] == "ended" and not server.tools.exists()


@pytest.mark.django_db
def test_without_an_allowed_command_the_form_says_what_to_set(root: Client, settings: Settings) -> None:
    settings.PIPEWEB_MCP_COMMANDS = []
    assert "PIPEWEB_MCP_COMMANDS" in root.get(reverse(ADD)).content.decode()


@pytest.mark.django_db
def test_an_approval_says_what_is_done_with_a_call(root: Client) -> None:
    page = root.get(reverse(ADD)).content.decode()
    assert re.search(r'<option value="always"[^>]*>allowed without asking<', page)
    assert re.search(r'<option value="ask" selected>ask the person<', page)


@pytest.mark.django_db
def test_of_a_persons_log_the_page_says_whose_and_how_large_and_not_what_is_in_it(
    root: Client, alice: User, settings: Settings
) -> None:
    server = enter(settings)
    for person, text in ((0, b"listening at once"), (alice.pk, b"call: what alice wrote")):
        log = log_path(server, person)
        log.parent.mkdir(exist_ok=True)
        log.write_bytes(text)
    page = root.get(reverse("admin:sessions_app_mcpserver_change", args=[server.pk])).content.decode()
    assert "listening at once" in page and "what alice wrote" not in page
    assert re.search(r"<div>alice: 22\sbytes, written last at ", page)


@pytest.mark.django_db
def test_secrets_that_cannot_be_read_are_told_and_none_is_added_to_them(
    root: Client, data: Path, settings: Settings
) -> None:
    server = enter(settings, is_on=False)
    (data / FOLDER).mkdir()
    file = data / FOLDER / f"{server.public}.json"
    file.write_bytes(b"{")
    place = reverse("admin:sessions_app_mcpserver_change", args=[server.pk])
    assert PROBLEMS[ServerProblem.SECRETS_UNREADABLE] in root.get(place).content.decode()
    page = root.post(place, fields(secrets="ONE=1"))
    assert page.status_code == 200 and "secrets" in page.context["adminform"].form.errors
    assert file.read_bytes() == b"{"
    off = {name: value for name, value in fields(title="Other").items() if name != "is_on"}
    assert root.post(place, off).status_code == 302


@pytest.mark.django_db
def test_secrets_that_cannot_be_kept_are_told_and_the_rest_is_saved(
    root: Client, data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    server = enter(settings, is_on=False)
    monkeypatch.setattr(mcp_secrets, "NamedTemporaryFile", refuse)
    place = reverse("admin:sessions_app_mcpserver_change", args=[server.pk])
    typed = {name: value for name, value in fields(title="Other", secrets="ONE=1").items() if name != "is_on"}
    page = root.post(place, typed, follow=True)
    assert escape(SECRETS_NOT_KEPT) in page.content.decode()
    server.refresh_from_db()
    assert server.title == "Other"
    assert "secrets" not in str(list(AuditEntry.objects.values_list("figures", flat=True)))


@pytest.mark.django_db
def test_a_listing_that_cannot_be_read_is_told(root: Client, data: Path, settings: Settings) -> None:
    server = enter(settings)
    log_path(server, 0).mkdir(parents=True)
    place = reverse("admin:sessions_app_mcpserver_change", args=[server.pk])
    assert LOG_UNREADABLE in root.get(place).content.decode()
