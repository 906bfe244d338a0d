"""The forms that rewrite a conversation: what they show, what they do, whose they are."""

import uuid
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import reverse

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import HistoryInvalid
from sessions_app.models import Run, Session, Spending, Turn
from sessions_app.prompt.turns import FILLER
from sessions_app.runs.runner import Runner
from tests.factories import answered, finish, make_run, make_session, play_flight
from tests.runs.running import running


@pytest.fixture
def session(alice: User) -> Session:
    session = make_session(alice)
    for number in "123":
        answered(session, f"Q{number}", f"A{number}")
    return session


def branch(session: Session) -> list[Turn]:
    session.refresh_from_db()
    return Turn.objects.branch(session.head_id)


def texts(session: Session) -> list[str]:
    return [turn.text for turn in branch(session)]


def address(name: str, session: Session, place: int, *more: str) -> str:
    return reverse(name, args=[session.public, branch(session)[place].public, *more])


FORMS = ("delete-turns", "shorten-turn", "compress-history")


@pytest.mark.parametrize("name", FORMS)
def test_another_persons_conversation_cannot_be_rewritten(
    stranger: Client, session: Session, name: str
) -> None:
    assert stranger.get(address(name, session, 2)).status_code == 404
    assert stranger.post(address(name, session, 2), {"text": "Mine"}).status_code == 404
    assert len(texts(session)) == 6


@pytest.mark.parametrize("name", FORMS)
def test_a_turn_of_another_branch_is_not_found(client: Client, session: Session, name: str) -> None:
    assert client.get(reverse(name, args=[session.public, uuid.uuid4()])).status_code == 404


def test_deleting_asks_first_and_says_what_comes_along(client: Client, session: Session) -> None:
    page = client.get(address("delete-turns", session, 2)).content.decode()
    assert "Q2" in page and "The 2 later turns come along" in page
    assert len(texts(session)) == 6


@pytest.mark.parametrize(
    ("what", "left"),
    [("both", ["Q1", "A1", "Q3", "A3"]), ("answer", ["Q1", "A1", "Q2", "Q3", "A3"])],
)
def test_a_message_goes_with_its_answer_or_the_answer_alone(
    client: Client, session: Session, what: str, left: list[str]
) -> None:
    done = client.post(address("delete-turns", session, 2), {"what": what})
    assert done["HX-Refresh"] == "true" and texts(session) == left


def test_the_page_tells_the_way_back(client: Client, session: Session) -> None:
    old = branch(session)[-1]
    client.post(address("delete-turns", session, 4), {"what": "both"})
    page = client.get(session.get_absolute_url()).content.decode()
    assert f"?leaf={old.public}" in page and "Deleted from this branch." in page


def test_an_approved_short_form_is_shown_with_its_mark(client: Client, session: Session) -> None:
    client.post(address("shorten-turn", session, 2), {"text": "Short."})
    page = client.get(session.get_absolute_url()).content.decode()
    assert "Short." in page and "Shortened: it stands for 1 turn" in page
    short = branch(session)[3]
    original = client.get(reverse("original-turn", args=[session.public, short.public])).content.decode()
    assert "A2" in original


def test_the_original_of_another_persons_answer_is_not_found(stranger: Client, session: Session) -> None:
    assert stranger.get(address("original-turn", session, 1)).status_code == 404


def test_what_was_before_is_shown_as_one_summary(client: Client, session: Session) -> None:
    client.post(address("compress-history", session, 4), {"text": "Two <b>questions</b>."})
    page = client.get(session.get_absolute_url()).content.decode()
    assert "Summary of 4 turns" in page and "Two &lt;b&gt;questions&lt;/b&gt;." in page
    assert texts(session)[1:] == ["Q3", "A3"]


@pytest.mark.parametrize(("name", "place"), [("shorten-turn", 2), ("compress-history", 4)])
def test_an_empty_summary_is_refused_in_the_form(
    client: Client, session: Session, name: str, place: int
) -> None:
    page = client.post(address(name, session, place), {"text": " "}).content.decode()
    assert "A summary cannot be empty." in page and len(texts(session)) == 6


def test_nothing_before_the_first_message_can_be_compressed(client: Client, session: Session) -> None:
    assert "Nothing was said before" in client.get(address("compress-history", session, 0)).content.decode()
    page = client.post(address("compress-history", session, 0), {"text": "x"}).content.decode()
    assert len(texts(session)) == 6 and "Nothing was said before" in page


def test_a_session_that_answers_refuses_in_the_form(client: Client, session: Session) -> None:
    make_run(session, "Q4")
    page = client.post(address("delete-turns", session, 0), {"what": "both"}).content.decode()
    assert "This chat is answering." in page


class Browser(AsyncClient):
    """Hands requests on as the composition root does: with the runner in the scope."""

    runner: Runner | None = None

    def _base_scope(self, **request: Any) -> Any:
        return {**super()._base_scope(**request), "runner": self.runner}  # type: ignore[misc]


@pytest.fixture
async def people(transactional_db: None, alice: User, session: Session) -> Browser:
    client = Browser()
    await client.aforce_login(alice)
    return client


async def post(client: Browser, runner: Runner, url: str, **fields: Any) -> Any:
    client.runner = runner
    return await client.post(url, fields)


async def test_the_model_writes_a_draft_that_counts_only_when_it_is_approved(
    people: Browser, session: Session
) -> None:
    url = await _address("draft-summary", session, 4, "compress")
    async with running() as runner:
        page = (await post(people, runner, url)).content.decode()
    assert "- Asked: Q1" in page and "- Answered: A2" in page and "A3" not in page
    assert "This draft took" in page and "prompt and" in page
    assert len(await _texts(session)) == 6
    assert (await Spending.objects.aget()).exchanges == 1


async def test_a_draft_that_cannot_be_written_keeps_what_the_person_wrote(
    people: Browser, session: Session
) -> None:
    session.settings = {"budget_usd": 0.01}
    session.spent_usd = 1
    await session.asave()
    url = await _address("draft-summary", session, 2, "shorten")
    async with running() as runner:
        page = (await post(people, runner, url, text="My own words")).content.decode()
    assert "My own words" in page and "is spent" in page
    assert not await Spending.objects.aexists()


async def test_there_are_no_other_kinds_of_drafts(people: Browser, session: Session) -> None:
    url = await _address("draft-summary", session, 2, "praise")
    async with running() as runner:
        assert (await post(people, runner, url)).status_code == 404


async def test_a_refused_history_is_repaired_and_answered_with_one_click(
    people: Browser, alice: User
) -> None:
    strict, run = await _broken(alice)
    url = reverse("repair-history", args=[strict.public, run.public])
    async with running() as runner:
        done = await post(people, runner, url)
        await runner.drain()
    assert done["HX-Refresh"] == "true"
    wires = [turn.wire for turn in await _branch(strict)]
    assert FILLER in wires and len(wires) == 6
    newest = await Run.objects.filter(session=strict).alatest("pk")
    assert newest.status == Run.Status.COMPLETED and newest.pk != run.pk


def test_a_refused_history_offers_its_repair(client: Client, session: Session) -> None:
    run = make_run(session, "And now?")
    error = HistoryInvalid(RefusalCode.HISTORY_INVALID, violations=[{"rule": "empty"}])
    run.end(Run.Status.FAILED, error=error)
    page = client.get(session.get_absolute_url()).content.decode()
    assert (
        "Repair and answer" in page and reverse("repair-history", args=[session.public, run.public]) in page
    )


async def test_a_sound_history_is_not_repaired(people: Browser, session: Session) -> None:
    run = await Run.objects.filter(session=session).afirst()
    assert run is not None
    async with running() as runner:
        refused = await post(people, runner, reverse("repair-history", args=[session.public, run.public]))
    assert refused.status_code == 409 and "needs no repair" in refused.content.decode()


@sync_to_async
def _broken(alice: User) -> tuple[Session, Run]:
    """A strict session whose last message came right after tool results."""
    session = make_session(alice, settings={"history_policy": "strict"})
    play_flight(session)
    session.advance(branch(session)[-2])
    return session, finish(make_run(session, "And now?"))


@sync_to_async
def _address(name: str, session: Session, place: int, *more: str) -> str:
    return address(name, session, place, *more)


@sync_to_async
def _branch(session: Session) -> list[Turn]:
    return branch(session)


@sync_to_async
def _texts(session: Session) -> list[str]:
    return texts(session)
