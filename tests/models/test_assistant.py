"""Whose assistants are whose, and what a session takes from one."""

from django.contrib.auth.models import User

from sessions_app.models import Assistant, PromptText, Session
from tests.factories import make_session


def test_a_person_has_their_own_first_then_the_installations(alice: User, bob: User) -> None:
    for owner, name in ((None, "A"), (alice, "Z"), (bob, "B"), (alice, "M")):
        Assistant.objects.create(owner=owner, name=name)
    assert [one.name for one in Assistant.objects.of(alice)] == ["M", "Z", "A"]
    assert [one.name for one in Assistant.objects.own(alice)] == ["M", "Z"]
    assert [one.name for one in Assistant.objects.installed()] == ["A"]


def test_a_session_begins_with_a_copy(alice: User) -> None:
    role = PromptText.objects.create(kind="role", name="Baker", body="Bake.")
    assistant = Assistant.objects.create(
        owner=alice,
        name="Baker",
        instructions="In grams.",
        model="gemini-3.6-flash",
        thinking_level="LOW",
        language="Portuguese",
        tools=["calculate"],
    )
    assistant.roles.add(role)
    session = make_session(alice, settings={"panels": {"tree": True}})
    assistant.apply_to(session)
    session.save()
    assistant.copy_roles(session)
    assistant.delete()
    session = Session.objects.get(pk=session.pk)
    options = session.options
    assert (session.background, session.model, list(session.roles.all())) == (
        "In grams.",
        "gemini-3.6-flash",
        [role],
    )
    assert (options.thinking_level, options.language, options.tools) == ("LOW", "Portuguese", ["calculate"])
    assert options.panels == {"tree": True}


def test_an_assistant_without_a_model_leaves_that_of_the_session(alice: User) -> None:
    session = make_session(alice)
    before = session.model
    Assistant.objects.create(name="Guide").apply_to(session)
    assert session.model == before


def test_only_the_installations_goes_on_to_limit_a_session(alice: User) -> None:
    own = Assistant.objects.create(owner=alice, name="Mine", tools=["calculate"])
    guide = Assistant.objects.create(name="Guide", tools=["calculate"])
    assert make_session(alice, assistant=own).chosen_tools is None
    assert make_session(alice, assistant=guide).chosen_tools == ["calculate"]


def test_a_duplicate_is_the_persons_own_under_a_free_name(alice: User) -> None:
    guide = Assistant.objects.create(name="Guide", icon="🥐", instructions="Be kind.", starters=["Hi"])
    names = [guide.duplicate(alice).name for _ in range(3)]
    assert names == ["Guide", "Guide (copy)", "Guide (copy 2)"]
    made = Assistant.objects.own(alice).first()
    assert made and (made.icon, made.instructions, made.starters) == ("🥐", "Be kind.", ["Hi"])


def test_a_long_name_stays_within_its_column(alice: User) -> None:
    guide = Assistant.objects.create(owner=alice, name="G" * 80)
    assert len(guide.duplicate(alice).name) == 80


def test_an_icon_is_a_symbol_or_an_emoji() -> None:
    assert Assistant(icon="edit").symbol == "edit"
    assert Assistant(icon="🥐").symbol == ""
    assert Assistant().symbol
