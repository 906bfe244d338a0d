"""Titles that the model makes: opt-in, once, never over a person's own."""

import uuid
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.db.models import Sum

from sessions_app.models import Exchange, Session, Spending
from tests.runs.running import running


class Told(NamedTuple):
    session: Session
    asked: int
    """Prompt tokens of the exchanges."""
    booked: int
    """Prompt tokens that the owner was charged for."""


async def answered(owner: User, **fields: Any) -> Told:
    async with running() as runner:
        session = await Session.objects.acreate(owner=owner, model="gemini-3-flash-preview", **fields)
        for text in ("Plan a garden with beans and peas", "And then?"):
            await runner.send(session.pk, uuid.uuid4(), text)
            await runner.drain()
        await session.arefresh_from_db()
        tokens = Sum("prompt_tokens")
        asked = await Exchange.objects.aaggregate(tokens=tokens)
        booked = await Spending.objects.aaggregate(tokens=tokens)
    return Told(session, asked["tokens"], booked["tokens"])


MADE = {"settings": {"auto_title": "model"}}


async def test_the_first_words_are_the_title(transactional_db: None, alice: User) -> None:
    told = await answered(alice)
    assert told.session.title == "Plan a garden with beans and peas" and told.booked == told.asked


async def test_the_model_makes_one_when_asked_to_and_it_is_booked(
    transactional_db: None, alice: User
) -> None:
    told = await answered(alice, **MADE)
    assert told.session.title and told.session.title != "Plan a garden with beans and peas"
    assert not told.session.titled_by_hand and told.booked > told.asked


@pytest.mark.parametrize("fields", [{"title": "Mine", "titled_by_hand": True}, {"temporary": True}])
async def test_a_persons_title_and_a_temporary_session_stay(
    transactional_db: None, alice: User, fields: dict[str, Any]
) -> None:
    told = await answered(alice, **MADE, **fields)
    assert told.session.title == fields.get("title", "Plan a garden with beans and peas")
    assert told.booked == told.asked
