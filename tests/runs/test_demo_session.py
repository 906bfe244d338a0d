"""The session a new user finds."""

import pytest
from django.contrib.auth.models import User

from pipeweb.composition import build_emulator, build_runner
from sessions_app.emulator import Emulator
from sessions_app.models import Exchange, Run, Session
from sessions_app.runs import demo_session
from sessions_app.runs.runner import Runner

pytestmark = pytest.mark.django_db(transaction=True)


def build() -> Runner:
    return build_runner(build_emulator(Emulator(delay=0)))


def test_the_second_turn_of_the_demo_hits_the_cache(alice: User) -> None:
    demo_session.ensure_demo_session(alice, build)
    assert {run.status for run in Run.objects.all()} == {Run.Status.COMPLETED}
    # The cache is made after the final answer of the first run, which takes two requests.
    assert [exchange.verdict for exchange in Exchange.objects.all()] == ["first", "below_minimum", "hit"]


def test_nobody_gets_a_demo_twice_or_instead_of_their_own(alice: User) -> None:
    demo_session.ensure_demo_session(alice, build)
    assert demo_session.ensure_demo_session(alice, build) is None
    assert Session.objects.count() == 1
