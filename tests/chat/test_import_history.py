"""A history from elsewhere goes through the job and the page of every import, whole or not at all."""

import json
import random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.chat.imports import add_job, run_job
from sessions_app.chat.transcript import Transcript
from sessions_app.chat.transfer import export_markdown
from sessions_app.errors import NotImportable
from sessions_app.models import Blob, ImportJob, Run, Session, Turn
from sessions_app.prompt.turns import IMPORTED
from sessions_app.sharing.building import Branch
from sessions_app.wording.imports import error_texts
from tests.chat.import_formats.histories import gemini_contents, openai_messages
from tests.chat.importing import import_session
from tests.chat.test_import_views import upload

HISTORY: Any = [
    ("Is AA100 late?", [[("check_flight", {"flight": "AA100"}, {"status": "delayed"})]], "Yes, it is."),
    ("Book a taxi.", [[("book_taxi", {}, {"booked": True})]], "Done."),
]
CONTENTS = gemini_contents(HISTORY, is_signed=True, are_apart=False)
MESSAGES = openai_messages(HISTORY, is_reversed=False)
CHUNKS = {
    "runSettings": {"model": "models/gemini-2.5-pro"},
    "systemInstruction": {"text": "Be brief."},
    "chunkedPrompt": {"chunks": [{"role": "user", "text": "Hello"}, {"role": "model", "text": "Hi."}]},
}
FILES: list[Any] = [
    CONTENTS,
    {"contents": CONTENTS},
    MESSAGES,
    {"model": "gpt-4o", "messages": MESSAGES},
    CHUNKS,
]


def branch(session: Session) -> list[Turn]:
    return Turn.objects.branch(session.head_id)


@pytest.mark.parametrize("file", [CONTENTS, MESSAGES], ids=["gemini", "openai"])
def test_a_history_becomes_a_branch_with_a_run_for_each_message(alice: User, file: Any) -> None:
    session = import_session(alice, json.dumps(file).encode())
    turns = branch(session)
    assert [turn.kind for turn in turns] == [
        *("user_task", "function_calling", "tool_response", "model_response"),
        *("user_task", "function_calling", "tool_response", "model_response"),
    ]
    assert session.title == "Is AA100 late?" and session.runs.count() == 2
    assert {turn.route for turn in turns if turn.kind == "model_response"} == {IMPORTED}
    assert [run.trigger_id for run in session.runs.order_by("pk")] == [turns[0].pk, turns[4].pk]
    assert set(session.runs.values_list("status", flat=True)) == {Run.Status.COMPLETED}


def test_a_history_that_ends_in_results_can_be_gone_on_with(alice: User, client: Client) -> None:
    session = import_session(alice, json.dumps(CONTENTS[:-1]).encode())
    assert session.runs.order_by("pk").last().status == Run.Status.STOPPED  # type: ignore[union-attr]
    page = client.get(session.get_absolute_url()).content.decode()
    assert "The results of its tools are kept." in page and "Is AA100 late?" in page


def test_what_the_model_said_before_the_first_message_is_read(alice: User, client: Client) -> None:
    greeting = [{"role": "assistant", "content": "How can I help?"}]
    instructed = [*MESSAGES[:1], *greeting, *MESSAGES[1:]]
    for messages, asked in ((instructed, [False, True, True]), (greeting, [False])):
        session = import_session(alice, json.dumps(messages).encode())
        assert [view.task is not None for view in Transcript.ending_at(session.head).runs] == asked
        page = client.get(session.get_absolute_url()).content.decode()
        assert "How can I help?" in page and "?before=" not in page and 'id="run-"' not in page


def test_a_message_that_another_one_follows_was_not_answered(alice: User, client: Client) -> None:
    spoken = [{"role": role, "content": role} for role in ("user", "user", "assistant")]
    session = import_session(alice, json.dumps(spoken).encode())
    assert list(session.runs.order_by("pk").values_list("status", flat=True)) == ["stopped", "completed"]
    assert client.get(session.get_absolute_url()).content.decode().count("Not answered.") == 1


def test_what_was_said_in_one_content_with_results_is_read(alice: User, client: Client) -> None:
    said = {"text": "Mind the time zone."}
    contents = [
        {**one, "parts": [*one["parts"], said]} if "functionResponse" in one["parts"][0] else one
        for one in CONTENTS
    ]
    session = import_session(alice, json.dumps(contents).encode())
    assert [step.beside for view in Transcript.full(session.head).runs for step in view.steps] == [
        said["text"],
        "",
    ] * len(HISTORY)
    assert client.get(session.get_absolute_url()).content.decode().count(said["text"]) == len(HISTORY)
    assert export_markdown(session).count(f"## You\n\n{said['text']}\n") == len(HISTORY)
    shared = Branch.ending_at(session, session.head).snapshot(has_details=False, chosen=())
    assert [step.beside for message in shared.messages for step in message.steps] == [said["text"], ""] * len(
        HISTORY
    )


def test_what_was_recognised_and_what_became_of_it_is_told(client: Client) -> None:
    body = json.dumps({"model": "gpt-4o", "messages": MESSAGES}).encode()
    page = client.get(upload(client, body)["Location"]).content.decode()
    assert "Recognised as messages of the OpenAI API." in page
    assert "gpt-4o" in page and "Steps of calls without the thought behind them: 2." in page
    assert "Yes, it is." in page


def test_the_list_tells_the_same_of_a_long_import(client: Client, alice: User) -> None:
    job = add_job(alice, "talk.json", [json.dumps(CONTENTS).encode()])
    run_job(job.pk, "p")
    job.refresh_from_db()
    assert job.format == "gemini" and job.total == job.done == len(CONTENTS) + 2
    page = client.get("/sessions/").content.decode()
    assert "Recognised as contents of the Gemini API." in page and "origin is unknown: 2." in page


def test_a_damaged_history_leaves_nothing_and_names_the_place(alice: User) -> None:
    contents = [*CONTENTS, {"role": "user", "parts": [{"text": "a"}, {"functionCall": 1}]}]
    before = Session.objects.count(), Turn.objects.count(), Blob.objects.count()
    with pytest.raises(NotImportable) as caught:
        import_session(alice, json.dumps({"contents": contents}).encode())
    assert "contents[8].parts[1]" in error_texts(caught.value)[0]
    assert (Session.objects.count(), Turn.objects.count(), Blob.objects.count()) == before


def damaged(value: Any, choice: random.Random) -> Any:
    """The value with one place in it replaced by something else."""
    odd: Any = choice.choice([None, 7, "text", [], {}, [[]], {"a": {"b": 1}}, True, "\ud800", "\0"])
    if not isinstance(value, dict | list) or not value or choice.random() < 0.1:
        return odd
    if isinstance(value, list):
        place = choice.randrange(len(value))
        return [damaged(one, choice) if at == place else one for at, one in enumerate(value)]
    name = choice.choice(sorted(value))
    return {key: damaged(one, choice) if key == name else one for key, one in value.items()}


def attempted(owner: User, file: Any) -> tuple[Session | None, NotImportable | None]:
    try:
        return import_session(owner, json.dumps(file).encode()), None
    except NotImportable as error:
        return None, error


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FILES), st.integers(0, 2**32), st.integers(1, 3))
def test_a_damaged_file_is_imported_whole_or_refused_with_words(
    alice: User, file: Any, seed: int, times: int
) -> None:
    choice = random.Random(seed)
    for _ in range(times):
        file = damaged(file, choice)
    before = Session.objects.count(), Turn.objects.count(), Run.objects.count()
    session, error = attempted(alice, file)
    if error is not None:
        assert (Session.objects.count(), Turn.objects.count(), Run.objects.count()) == before
        assert error.reason != "broken", error
        assert all(error_texts(error))
    if session is not None:
        assert session.turns.count() == len(branch(session)) == session.turns.last().depth + 1  # type: ignore[union-attr]
    assert not ImportJob.objects.active().exists()
