"""Titles that the model writes, asked for beside the runs."""

import asyncio
from collections.abc import Callable

import structlog

from sessions_app.database import database_sync_to_async
from sessions_app.errors import PipewebError
from sessions_app.gemini.gateway import Gateway
from sessions_app.markup import plain
from sessions_app.models import Run, Session, Turn
from sessions_app.models.columns import storable
from sessions_app.models.titles import TITLE_LENGTH
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, model_text, user_task
from sessions_app.runs.background import detached, isolated
from sessions_app.runs.session_streams import SessionStream
from sessions_app.runs.side_requests import ask_in_time

StreamOf = Callable[[int], SessionStream | None]

TITLE_INSTRUCTION = (
    "Write a summary of the conversation above as its title: at most six words, in the language of the "
    "conversation, no quotation marks, no full stop. Give only the title."
)
TITLE_SOURCE_LIMIT = 2_000
"""Characters that are sent of the question and of the answer."""

TITLE_WORDS = 10

log = structlog.get_logger("pipeweb.runs")


class Titles:
    """Nothing waits for a title, least of all a shutdown."""

    def __init__(self, stream_of: StreamOf) -> None:
        self._stream_of = stream_of
        self._tasks: set[asyncio.Task[None]] = set()

    def improve(self, run: Run, gateway: Gateway) -> None:
        """Asks for one where the session wants it."""
        if wants_title(run):
            task = detached(self._update(run, gateway), run=str(run.public))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @property
    def tasks(self) -> list["asyncio.Task[None]"]:
        return list(self._tasks)

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _update(self, run: Run, gateway: Gateway) -> None:
        with isolated("title_failed", run=str(run.public)):
            title = await improve_title(gateway, run)
            if title and (stream := self._stream_of(run.session_id)) is not None:
                stream.set_title(title)


def wants_title(run: Run) -> bool:
    """Whether the model may have to be asked for a title after this run. No query."""
    session = run.session
    wants = session.options.auto_title == "model" and not session.temporary
    return wants and run.trigger is not None and (run.is_resumed or not run.trigger.depth)


async def improve_title(gateway: Gateway, run: Run) -> str:
    """The session's new title; empty when it keeps its title."""
    session, material = await database_sync_to_async(_title_material)(run)
    if not material:
        return ""
    try:
        draft = await ask_in_time(gateway, session, SpendingCause.TITLE, material, TITLE_INSTRUCTION)
    except PipewebError as error:
        # The title from the first message stays.
        log.info("title_not_made", kind=type(error).__name__)
        return ""
    return await database_sync_to_async(_save_title)(session, draft.text)


def _title_material(run: Run) -> tuple[Session, list[TurnValue]]:
    """The first message and its answer; empty when no title is to be made."""
    session = run.session
    if not wants_title(run) or run.task is None or run.task.depth:
        return session, []
    answers = Turn.objects.filter(run=run, kind=TurnKind.MODEL_RESPONSE).order_by("-depth")
    answer = answers.values_list("text", flat=True).first()
    if not answer or Session.objects.filter(pk=session.pk, titled_by_hand=True).exists():
        return session, []
    return session, [
        user_task("title", run.task.text[:TITLE_SOURCE_LIMIT]),
        model_text("title", answer[:TITLE_SOURCE_LIMIT]),
    ]


def _save_title(session: Session, text: str) -> str:
    words = plain(text.strip().partition("\n")[0]).split()[:TITLE_WORDS]
    title = storable(" ".join(words), TITLE_LENGTH).rstrip(".")
    untouched = Session.objects.filter(pk=session.pk, titled_by_hand=False)
    return title if title and untouched.update(title=title) else ""
