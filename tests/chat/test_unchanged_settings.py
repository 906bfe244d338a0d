"""Saving settings that nobody changed changes nothing that is stored, so no byte of the next request."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from sessions_app.models import Assistant, PromptText, Session, SessionSettings
from tests import factories
from tests.browser_forms import posted_unchanged

MANY = hypothesis_settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
TEXTS = st.text(st.sampled_from("ab é\n\r\t&<>\"'😀{}"), max_size=12).filter(lambda text: "\0" not in text)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "language": st.sampled_from(["", " en ", "português\t"]),
        "message_language": st.sampled_from(["pt", " pt"]),
        "time_zone": st.sampled_from(["UTC", "Europe/Lisbon"]),
        "temperature": st.none() | st.floats(0, 2),
        "top_p": st.none() | st.floats(0, 1),
        "thinking_budget": st.none() | st.integers(-1, 65_536),
        "thinking_level": st.sampled_from(["", "LOW"]),
        "clock_minutes": st.integers(1, 1440),
        "max_usd": st.none() | st.floats(0.001, 1e6),
        "max_tokens": st.none() | st.integers(1, 10**12),
        "include_thoughts": st.booleans(),
        "continue_todos": st.booleans(),
        "cache_mode": st.sampled_from(["auto", "implicit"]),
        "tools": st.none() | st.just([]) | st.just(["calculate", "tool_of_tomorrow"]),
        "panels": st.just({"tree": True}),
        "dynamic_texts": st.just(["purpose"]),
    },
)


def stored(session: Session) -> tuple[Any, ...]:
    """Everything of the session that a request is built from."""
    found = Session.objects.get(pk=session.pk)
    return (
        found.purpose,
        found.background,
        found.model,
        found.assistant_id,
        found.procedure_id,
        list(found.roles.order_by("pk").values_list("pk", flat=True)),
        SessionSettings.model_validate(found.settings),
    )


@pytest.fixture
def session(alice: User) -> Session:
    kinds = PromptText.Kind
    procedure = PromptText.objects.create(kind=kinds.PROCEDURE, name="Steps", body="1.\r\n2.")
    role = PromptText.objects.create(kind=kinds.ROLE, name="Baker", body="bake\n")
    assistant = Assistant.objects.create(name="Ada")
    session = factories.make_session(alice, procedure=procedure, assistant=assistant)
    session.roles.add(role)
    return session


@MANY
@given(purpose=TEXTS, background=TEXTS, options=OPTIONS)
def test_settings_that_nobody_changed_stay(
    client: Client, session: Session, purpose: str, background: str, options: dict[str, Any]
) -> None:
    Session.objects.filter(pk=session.pk).update(purpose=purpose, background=background, settings=options)
    before = stored(session)
    url = reverse("session-settings", args=[session.public])
    answer = client.post(url, posted_unchanged(client.get(url).content.decode()))
    assert answer.headers.get("HX-Refresh") == "true", answer.content.decode()
    assert stored(session) == before


def test_what_another_page_has_saved_meanwhile_stays(client: Client, session: Session) -> None:
    url = reverse("session-settings", args=[session.public])
    ours, theirs = (posted_unchanged(client.get(url).content.decode()) for _ in range(2))
    chosen = {"background": "Softly.", "budget_usd": "3", "tools": ["calculate"], "continue_cut": ""}
    client.post(url, {name: value for name, value in (theirs | chosen).items() if name != "roles"})
    saved = stored(session)
    refused = client.post(url, ours | {"temperature": "9"}).content.decode()
    client.post(url, posted_unchanged(refused) | {"temperature": "0.5"})
    *columns, options = stored(session)
    assert columns == list(saved[:-1]) and columns[-1] == []
    assert options == saved[-1].model_copy(update={"temperature": 0.5})
    assert (options.budget_usd, options.tools, options.continue_cut) == (3, ["calculate"], False)


def test_what_was_seen_and_cannot_be_read_counts_for_nothing(client: Client, session: Session) -> None:
    url = reverse("session-settings", args=[session.public])
    for seen in ("", "{", "[]", '{"background": 1}'):
        client.post(
            url, posted_unchanged(client.get(url).content.decode()) | {"seen": seen, "background": seen}
        )
        assert stored(session)[1] == seen


def test_a_changed_text_is_stored_with_its_line_ends_as_typed(client: Client, session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(purpose="one\r\ntwo")
    url = reverse("session-settings", args=[session.public])
    form = posted_unchanged(client.get(url).content.decode())
    client.post(url, form | {"purpose": "one\r\ntwo\r\n"})
    assert stored(session)[0] == "one\ntwo\n"


@MANY
@given(text=TEXTS.filter(str.strip))
def test_a_library_text_that_nobody_changed_stays(admin_client: Client, text: str) -> None:
    row, _ = PromptText.objects.update_or_create(
        name="Odd", defaults={"kind": PromptText.Kind.ROLE, "body": text}
    )
    url = reverse("admin:sessions_app_prompttext_change", args=[row.pk])
    answer = admin_client.post(url, posted_unchanged(admin_client.get(url).content.decode()))
    assert answer.status_code == 302, answer.content.decode()
    assert PromptText.objects.get(pk=row.pk).body == text


@MANY
@given(description=TEXTS, language=st.sampled_from(["", " en "]))
def test_an_assistant_that_nobody_changed_stays(
    admin_client: Client, description: str, language: str
) -> None:
    row, _ = Assistant.objects.update_or_create(
        name="Odd", defaults={"description": description, "language": language}
    )
    url = reverse("admin:sessions_app_assistant_change", args=[row.pk])
    answer = admin_client.post(url, posted_unchanged(admin_client.get(url).content.decode()))
    assert answer.status_code == 302, answer.content.decode()
    row.refresh_from_db()
    assert (row.description, row.language) == (description, language)
