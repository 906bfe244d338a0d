"""The drawer, its panels and their switches: whose they are, what they show, what they cost."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import (
    AllowedCommand,
    Exchange,
    Memory,
    Notification,
    PanelState,
    PromptText,
    Session,
)
from sessions_app.panels import KEYS, KINDS
from sessions_app.panels.refresh import refresh
from sessions_app.workspace import Workspace
from tests import factories

ACTIONS = [(kind.key, action.action_name()) for kind in KINDS for action in kind.actions]


def page(client: Client, session: Session, name: str, *more: object) -> str:
    answer = client.get(reverse(name, args=[session.public, *more]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_drawer_says_what_the_model_reads(client: Client, session: Session) -> None:
    session.todos.create(position=1, title="water the beans")
    html = page(client, session, "details")
    assert "panel</button> with every message" in html and "not sent yet" in html


def test_what_changed_since_a_request_is_new_since_it(client: Client, session: Session) -> None:
    session.todos.create(position=1, title="water the beans")
    refresh(session, workspace_of(session.owner_id), timezone.now())
    assert "not sent yet" not in page(client, session, "details")
    session.todos.create(position=2, title="sow them")
    html = page(client, session, "details")
    assert "new since the last request" in html and "not sent yet" not in html


def test_a_new_session_says_that_nothing_is_read(client: Client, session: Session) -> None:
    assert "the model reads none of them" in page(client, session, "details")


def test_every_panel_is_in_the_drawer_once(client: Client, session: Session) -> None:
    html = page(client, session, "details")
    assert [html.count(f'id="panel-{key}"') for key in KEYS] == [1] * len(KEYS)


@pytest.mark.parametrize("key", [*KEYS, "offers"])
def test_every_panel_opens(client: Client, session: Session, key: str) -> None:
    assert f'id="problem-{key}"' in page(client, session, "panel", key)


@pytest.mark.parametrize("name", ["panel", "panel-raw"])
def test_a_panel_that_does_not_exist_is_not_found(client: Client, session: Session, name: str) -> None:
    assert client.get(reverse(name, args=[session.public, "nothing"])).status_code == 404


@pytest.mark.parametrize(
    ("name", "more"),
    [("details", ()), ("panels", ()), ("panel", ("todos",)), ("panel-raw", ("todos",)), ("chunks", ())],
)
def test_another_persons_panels_do_not_exist(
    stranger: Client, session: Session, name: str, more: tuple[str, ...]
) -> None:
    assert stranger.get(reverse(name, args=[session.public, *more])).status_code == 404


@pytest.mark.parametrize("name", ["switch-panel", "turn-panel"])
def test_another_persons_panel_is_not_switched_or_turned(
    stranger: Client, session: Session, name: str
) -> None:
    assert stranger.post(reverse(name, args=[session.public, "todos"]), {"page": 2}).status_code == 404
    assert not PanelState.objects.exists() and Session.objects.get(pk=session.pk).settings == {}


@pytest.mark.parametrize(("key", "name"), ACTIONS)
def test_another_persons_session_is_not_acted_on(
    stranger: Client, session: Session, key: str, name: str
) -> None:
    assert stranger.post(reverse("panel-action", args=[session.public, key, name])).status_code == 404


@pytest.mark.parametrize(("key", "name"), ACTIONS)
def test_looking_changes_nothing(client: Client, session: Session, key: str, name: str) -> None:
    assert client.get(reverse("panel-action", args=[session.public, key, name])).status_code == 405


def test_the_raw_text_is_what_stands_in_the_dynamic_layer(client: Client, session: Session) -> None:
    session.todos.create(position=1, title='the "big" pot')
    html = page(client, session, "panel-raw", "todos")
    assert "&quot;todos&quot;: [{&quot;position&quot;:1,&quot;title&quot;:&quot;the \\&quot;big" in html


def test_fields_have_the_limits_of_their_actions(client: Client, session: Session) -> None:
    assert 'maxlength="300"' in page(client, session, "panel", "todos")
    assert 'maxlength="120"' in page(client, session, "panel", "scratchpad")
    assert 'maxlength=""' not in "".join(page(client, session, "panel", key) for key in KEYS)


def test_a_panel_is_switched_off_and_on(client: Client, session: Session) -> None:
    session.todos.create(position=1, title="water the beans")
    address = reverse("switch-panel", args=[session.public, "todos"])
    assert "Todos is off." in client.post(address).content.decode()
    assert "the model reads none" in page(client, session, "panels")
    assert "Todos is on." in client.post(address, {"on": "on"}).content.decode()
    assert Session.objects.get(pk=session.pk).options.panels == {"todos": True}


def test_what_is_off_still_shows_what_it_would_say(client: Client, session: Session) -> None:
    session.switch_panel("todos", False)
    session.todos.create(position=1, title="water the beans")
    html = page(client, session, "panel", "todos")
    assert "Off: nothing of this is sent" in html and "water the beans" in html


def test_a_long_panel_is_turned(client: Client, session: Session) -> None:
    for position in range(1, 3):
        session.notes.create(position=position, text="word " * 19_000)
    assert "Page 1 of 3" in page(client, session, "panel", "scratchpad")
    address = reverse("turn-panel", args=[session.public, "scratchpad"])
    assert "Page 2 of 3" in client.post(address, {"page": 2}).content.decode()


def test_a_page_is_a_number(client: Client, session: Session) -> None:
    answer = client.post(reverse("turn-panel", args=[session.public, "tree"]), {"page": "two"})
    assert "problem-tree" in answer.content.decode() and not PanelState.objects.exists()


@pytest.mark.parametrize("key", ["statistics", "tools", "library"])
def test_what_comes_about_by_itself_is_readable(
    client: Client, session: Session, workspace: Workspace, key: str
) -> None:
    workspace.write_text("plan.md", "June")
    PromptText.objects.create(kind="role", name="Clerk", body="Be brief.")
    factories.make_history(session, 1)
    assert 'class="value"' in page(client, session, "panel", key)


def test_the_console_names_its_commands_and_what_they_printed(client: Client, session: Session) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df", "-h"])
    session.readings.create(key="console:disk", text="90 % used")
    html = page(client, session, "panel", "console")
    assert "df -h" in html and "90 % used" in html and "just now" in html


def test_git_tells_how_old_its_reading_is(client: Client, session: Session) -> None:
    session.readings.create(key="git_log", text="abc Begin")
    html = page(client, session, "panel", "git_log")
    assert "abc Begin" in html and "Read <time" in html


def test_only_administrators_are_led_to_the_library(client: Client, session: Session, alice: User) -> None:
    assert "/admin/" not in page(client, session, "panel", "skills")
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert "/admin/" in page(client, session, "panel", "skills")


def test_what_the_last_request_had_to_tell_is_told(client: Client, session: Session) -> None:
    exchange = factories.make_history(session, 1)[0]
    stages = [
        {
            "name": "render_templates",
            "status": "fallback",
            "remarks": [
                {"code": "text_rendered", "title": "a role"},
                {"code": "text_fell_back", "title": "purpose", "line": 2, "reason": "a brace is open"},
            ],
        },
        {
            "name": "refresh_panels",
            "status": "noticed",
            "remarks": [{"code": "panel_read", "panel": "files", "problem": "a.txt is gone"}],
        },
        {
            "name": "validate_history",
            "status": "repaired",
            "figures": {"case": "repaired", "turns": 3},
            "remarks": [],
        },
    ]
    Exchange.objects.filter(pk=exchange.pk).update(stages=stages)
    html = page(client, session, "details")
    assert "a brace is open" in html and "3 turns" in html and "tab=pipeline" in html
    assert "a role" not in html and "a.txt" not in html


def test_untrusted_text_stays_text(client: Client, session: Session) -> None:
    nasty = "<script>alert(1)</script>"
    session.todos.create(position=1, title=nasty)
    session.notes.create(position=1, title=nasty, text=nasty)
    session.log_entries.create(text=nasty)
    Memory.objects.create(owner=session.owner, text=nasty)
    Notification.objects.add(session.pk, "custom", nasty)
    for key in ("todos", "scratchpad", "logs", "memories", "notifications"):
        for name in ("panel", "panel-raw"):
            assert "<script>" not in page(client, session, name, key)


def test_nothing_is_inline(client: Client, session: Session) -> None:
    for key in (*KEYS, "offers"):
        html = page(client, session, "panel", key)
        assert " style=" not in html and " onclick=" not in html and "hx-on" not in html


def test_many_rows_cost_no_more_queries(
    client: Client, session: Session, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    page(client, session, "details")  # A process remembers whether there is any server of tools.
    for count in (1, 9):
        for number in range(count):
            path = f"file-{count}-{number}.txt"
            workspace.write_text(path, "text")
            session.references.create(path=path, ttl=3)
        with django_assert_num_queries(5):
            page(client, session, "panel", "file_references")
        with django_assert_num_queries(6):
            page(client, session, "details")
