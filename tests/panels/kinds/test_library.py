"""The library and the skills as panels."""

import pytest

from sessions_app.models import PromptText, Session
from sessions_app.workspace import Workspace
from tests.panels.reading import read, value

pytestmark = pytest.mark.django_db


def text(kind: str, name: str, **fields: str) -> PromptText:
    return PromptText.objects.create(kind=kind, name=name, body=f"Body of {name}.", **fields)


def test_skills_are_sent_in_full_by_name(session: Session, workspace: Workspace) -> None:
    text("skill", "Sifting", summary="Flour without lumps")
    text("skill", "Kneading")
    assert value(session, workspace, "skills") == [
        {"name": "Kneading", "summary": "", "body": "Body of Kneading."},
        {"name": "Sifting", "summary": "Flour without lumps", "body": "Body of Sifting."},
    ]


@pytest.mark.parametrize(("chosen", "names"), [(["Sifting"], ["Sifting"]), ([], None)])
def test_a_person_chooses_the_skills(
    session: Session, workspace: Workspace, chosen: list[str], names: list[str] | None
) -> None:
    text("skill", "Sifting")
    text("skill", "Kneading")
    session.settings = {"skills": chosen}
    panels = read(session, workspace, "skills").panels
    assert ([one["name"] for panel in panels for one in panel.value] or None) == names


def test_the_library_names_what_there_is(session: Session, workspace: Workspace) -> None:
    PromptText.objects.all().delete()
    text("skill", "Sifting", summary="Flour without lumps")
    text("role", "Baker")
    text("constraint", "brief")
    assert value(session, workspace, "library") == {
        "roles": ["Baker"],
        "skills": ["Sifting: Flour without lumps"],
    }
