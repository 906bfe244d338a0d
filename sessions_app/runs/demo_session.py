"""The demo session of a new user: two messages through the emulator, the second with a cache hit."""

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync

from sessions_app.models import PromptText, Session
from sessions_app.runs.runner import Runner

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MODEL = "gemini-3-flash-preview"
QUESTIONS = (
    "Check the weather in Paris and London.",
    "What did you receive from me this time, and what was cached?",
)


def ensure_demo_session(owner: "User", build: Callable[[], Runner]) -> Session | None:
    """Creates it for an owner without sessions; `build` makes a runner with the emulator."""
    if Session.objects.filter(owner=owner).exists():
        return None
    session = Session.objects.create(
        owner=owner,
        title="A first look at the four layers",
        titled_by_hand=True,
        purpose="Show what Pipeweb records of a conversation with Gemini.",
        background="Played once through the emulator when this installation was new. It cost nothing.",
        model=MODEL,
        procedure=PromptText.objects.filter(kind=PromptText.Kind.PROCEDURE).first(),
    )
    session.roles.set(PromptText.objects.filter(kind=PromptText.Kind.ROLE)[:2])
    async_to_sync(_play)(build, session.pk)
    session.refresh_from_db()
    return session


async def _play(build: Callable[[], Runner], session_pk: int) -> None:
    # A runner belongs to the event loop in which it was made.
    runner = build()
    for question in QUESTIONS:
        await runner.send(session_pk, uuid.uuid4(), question)
        await runner.drain()
    await runner.shutdown()
