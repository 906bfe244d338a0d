"""What the static layer of a session is made of."""

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from sessions_app.context.static import static_sources
from sessions_app.models import PromptText, Session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return Session.objects.create(
        owner=alice, model="gemini-3-flash-preview", purpose="Learn.", settings={"language": "Dutch"}
    )


def text(kind: str, name: str) -> PromptText:
    return PromptText.objects.create(kind=kind, name=name, body=f"Be {name}.")


def test_roles_come_by_name_whatever_order_they_were_chosen_in(session: Session) -> None:
    session.roles.add(text("role", "zealous"), text("role", "attentive"))
    assert [role.name for role in static_sources(session, []).roles] == ["attentive", "zealous"]


def test_a_role_nobody_chose_is_not_sent(session: Session) -> None:
    text("role", "unwanted")
    assert static_sources(session, []).roles == ()


def test_the_procedure_is_the_sessions_own(session: Session) -> None:
    text("procedure", "other")
    session.procedure = text("procedure", "chosen")
    procedure = static_sources(session, []).procedure
    assert procedure is not None and procedure.name == "chosen"


def test_constraints_hold_for_every_session(session: Session) -> None:
    text("constraint", "brief")
    assert [one.name for one in static_sources(session, []).constraints] == ["brief"]


def test_purpose_language_and_tools_are_passed_on(session: Session) -> None:
    sources = static_sources(session, ["calculate"])
    assert (sources.purpose, sources.language, sources.tools) == ("Learn.", "Dutch", ("calculate",))


def test_all_texts_cost_one_query(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session.roles.add(text("role", "zealous"), text("role", "attentive"))
    with django_assert_num_queries(1):
        static_sources(session, [])
