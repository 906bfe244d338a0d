"""“Always in this chat”: the tools that have it are told, and switching one off takes it back."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.chat.session_form import SessionForm
from sessions_app.models import McpServer, McpTool, Session, ToolGrant
from sessions_app.panels.panel_list import ToolOffers
from tests import factories

NAMES = ("one__check", "one__count", "two__check")


@pytest.fixture
def session(alice: User) -> Session:
    """Two servers, of which one has two tools; all are on and run without an ask."""
    session = factories.make_session(alice, settings={"tools": [*NAMES, "calculate"]})
    for function in NAMES:
        server, _ = McpServer.objects.get_or_create(name=function[:3], for_everybody=True)
        declaration = f'{{"name":"{function}","description":"Looks."}}'
        tool = McpTool.objects.create(
            server=server, name=function[5:], function=function, declaration=declaration
        )
        allow(session, tool)
    return session


def allow(session: Session, tool: McpTool) -> None:
    ToolGrant.objects.create(session=session, server=tool.server, tool=tool.name, sha256=tool.sha256)


def granted(session: Session) -> set[str]:
    return {offer.tool.name for offer in ToolOffers.of(session).offers if offer.is_granted}


def switch(client: Client, session: Session, name: str, **fields: str) -> None:
    answer = client.post(reverse("switch-tool", args=[session.public, name]), fields)
    assert answer.status_code == 200


def test_a_tool_that_is_declared_anew_is_asked_about(session: Session) -> None:
    assert granted(session) == {*NAMES}
    McpTool.objects.filter(function="one__check").update(sha256="another")
    assert granted(session) == {*NAMES} - {"one__check"}


def test_a_tool_that_is_switched_off_and_on_is_asked_about(client: Client, session: Session) -> None:
    elsewhere = factories.make_session(session.owner)
    allow(elsewhere, McpTool.objects.get(function="one__check"))
    switch(client, session, "one__check")
    switch(client, session, "one__check", on="on")
    assert granted(session) == {*NAMES} - {"one__check"}
    assert granted(elsewhere) == {"one__check"}


def test_a_tool_of_ours_takes_nothing_back(client: Client, session: Session) -> None:
    switch(client, session, "calculate")
    assert granted(session) == {*NAMES}


def test_what_the_settings_switch_off_is_asked_about(session: Session) -> None:
    form = SessionForm({"model": session.model, "tools": [NAMES[1], "current_time"]}, instance=session)
    assert [box.is_granted for group in form.tool_groups for box in group.boxes].count(True) == len(NAMES)
    assert form.is_valid(), form.errors
    assert granted(form.save()) == {NAMES[1]}
