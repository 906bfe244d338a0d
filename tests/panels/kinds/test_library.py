"""The library and the skills as panels."""

from typing import Any

import pytest

from sessions_app.models import PromptText, Session
from sessions_app.workspace import Workspace
from tests.panels.reading import read, value

pytestmark = pytest.mark.django_db


def text(kind: str, name: str, body: str = "", **fields: Any) -> PromptText:
    return PromptText.objects.create(kind=kind, name=name, body=body or f"Body of {name}.", **fields)


def test_skills_are_sent_in_full_by_name(session: Session, workspace: Workspace) -> None:
    text("skill", "Sifting", summary="Flour without lumps")
    text("skill", "Kneading")
    assert value(session, workspace, "skills") == [
        {"name": "Kneading", "summary": "", "body": "Body of Kneading."},
        {"name": "Sifting", "summary": "Flour without lumps", "body": "Body of Sifting."},
    ]


def test_a_skill_is_a_template_over_the_arguments_and_its_own_defaults(
    session: Session, workspace: Workspace
) -> None:
    variables = [{"name": "flour", "default": "rye"}, {"name": "oven.degrees", "default": 240}]
    text("skill", "Baking", "{{ flour }} at {{ oven.degrees }}", variables=variables)
    session.args = {"flour": "spelt"}
    found = read(session, workspace, "skills")
    assert [one["body"] for one in found.panels[0].value] == ["spelt at 240"]
    assert found.problem == ""


@pytest.mark.parametrize("variables", ["no list", ["no variable"], {"name": "flour"}])
def test_a_column_that_holds_no_variables_is_none(
    session: Session, workspace: Workspace, variables: object
) -> None:
    text("skill", "Baking", "{{ flour }}!", variables=variables)
    assert [one["body"] for one in read(session, workspace, "skills").panels[0].value] == ["!"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("{% broken", "“Baking” is sent as it is written: "),
        ("at {{ oven }}", "“Baking” names what has no value: oven."),
    ],
)
def test_a_skill_that_cannot_be_filled_in_is_said(
    session: Session, workspace: Workspace, body: str, problem: str
) -> None:
    text("skill", "Baking", body)
    text("skill", "Sifting", "{{ 1 + 1 }} sieves")
    found = read(session, workspace, "skills")
    assert found.problem.startswith(problem)
    assert [one["body"] for one in found.panels[0].value][1] == "2 sieves"


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
