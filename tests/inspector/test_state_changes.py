"""What changed in a session between two requests is a list of codes with names."""

from django.test import Client

from sessions_app.inspector.request_diff import pairs_of, settings_of
from sessions_app.inspector.state_changes import StateChange, state_changes
from sessions_app.inspector.tabs.diff_tab import titles_of
from sessions_app.models import Exchange, Session, Source
from sessions_app.prompt.comparisons import StateSubject
from sessions_app.prompt.layers import Layer
from sessions_app.wording import comparisons
from tests import factories
from tests.factories import answered, make_history
from tests.inspector.reading import read


def changes(old: Exchange, new: Exchange) -> list[StateChange]:
    pairs = pairs_of(old, new)
    return state_changes(old, new, pairs, settings_of(old, new), titles_of(pairs, new.session_id))


def told(old: Exchange, new: Exchange) -> set[tuple[StateSubject, str, str]]:
    return {(one.subject, one.name, one.how) for one in changes(old, new)}


def test_two_messages_change_nothing_but_the_history(session: Session) -> None:
    first, second = make_history(session, 2)
    assert told(first, second) == {(StateSubject.HISTORY, "2 turns", "new")}
    assert told(second, first) == {(StateSubject.HISTORY, "2 turns", "gone")}
    assert changes(first, first) == []


def test_a_text_of_the_session_that_changed_is_named(session: Session) -> None:
    first = answered(session, "Hello", "Hi")
    session.background = "Another background."
    session.save()
    assert (StateSubject.TEXT, "Static template", "changed") in told(first, answered(session, "And?", "Yes"))


def test_model_settings_and_caching_have_old_and_new_values(session: Session) -> None:
    first, second = make_history(session, 2)
    first.cache_mode, second.cache_mode = "implicit", "explicit"
    second.cache_name, second.served_model = "cachedContents/a", "gemini-9"
    second.model = "gemini-2.5-pro"
    tail = second.stored_manifest.tail
    second.stored_manifest.tail = tail[:-1] + ',"generationConfig":{"temperature":1}}'
    found = {(one.subject, one.name): (one.old, one.new) for one in changes(first, second)}
    assert found[StateSubject.MODEL, "model"] == (first.model, "gemini-2.5-pro")
    assert found[StateSubject.MODEL, "served model"] == (first.served_model, "gemini-9")
    assert found[StateSubject.SETTING, "generationConfig.temperature"] == ("", "1")
    assert found[StateSubject.CACHING, "mode"] == ("implicit", "explicit")
    assert found[StateSubject.CACHING, "cache named"] == ("", "cachedContents/a")


def test_an_answer_that_has_not_come_is_no_change_of_the_model(session: Session) -> None:
    first, second = make_history(session, 2)
    second.served_model, second.base_url, first.base_url = "", "http://a", ""
    assert {one.subject for one in changes(first, second)} == {StateSubject.HISTORY}


def test_each_tool_that_came_went_or_changed_is_named(session: Session) -> None:
    before = factories.DECLARATIONS[:]
    first = answered(session, "Hello", "Hi")
    try:
        factories.DECLARATIONS[:] = [before[0] | {"description": "Other"}, {"name": "new_tool"}]
        second = answered(session, "And?", "Yes")
        factories.DECLARATIONS[:] = [{"name": "new_tool"}]
        third = answered(session, "And then?", "Yes")
    finally:
        factories.DECLARATIONS[:] = before
    tools = {one for one in told(first, second) if one[0] is StateSubject.TOOL}
    assert tools == {
        (StateSubject.TOOL, "check_flight", "changed"),
        (StateSubject.TOOL, "new_tool", "new"),
    }
    assert (StateSubject.TOOL, "check_flight", "gone") in told(second, third)


def test_a_panel_that_changed_is_named(session: Session) -> None:
    first, second = make_history(session, 2)
    panel = next(item for item in second.sent_items() if item.source.name == "panel:todos")
    turn = next(item for item in second.sent_items() if item.layer is Layer.TRIGGER)
    changed = Source.objects.create(
        session=session, name="panel:todos", kind="text", blob=turn.source.blob, tokens=4
    )
    entries = second.stored_manifest.entries
    entries[panel.position] = entries[panel.position]._replace(source=changed.pk)
    assert (StateSubject.PANEL, "Panel “todos”", "changed") in told(first, second)


def test_the_diff_shows_the_list_in_the_words_of_its_codes(client: Client, session: Session) -> None:
    _, second = make_history(session, 2)
    Exchange.objects.filter(pk=second.pk).update(cache_mode="explicit", served_model="gemini-9")
    page = read(client, second, "diff")
    assert "What changed in the session" in page
    assert comparisons.SUBJECTS[StateSubject.MODEL] in page and "gemini-9" in page
