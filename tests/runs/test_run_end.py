"""The end of a run whose rows cannot be read."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.events import Finished
from sessions_app.models import Exchange, Run, RunLog
from sessions_app.prompt.caching import VerdictCode
from sessions_app.runs.run_end import end_run
from tests import factories


def broken(*_: Any, **__: Any) -> Any:
    raise RecursionError


def test_it_ends_what_is_open_of_the_run_and_nothing_else(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = [factories.play_flight(factories.make_session(alice)) for _ in range(2)]
    (over, last), (_, other) = played
    first, second = last.run, other.run
    Exchange.objects.filter(pk__in=[last.pk, other.pk]).update(ended_at=None)
    Run.objects.update(status=Run.Status.RUNNING)
    verdict = Exchange.objects.get(pk=over.pk).verdict
    RunLog.of(second, 7, [Finished(run=second.public, seq=7, status="completed").wire()]).save()
    monkeypatch.setattr("sessions_app.runs.run_end.close_run", broken)
    finished = end_run(first.pk, Run.Status.INTERRUPTED)
    assert finished is not None and (finished.run, finished.seq) == (first.public, 0)
    assert list(Exchange.objects.filter(ended_at=None).values_list("run", flat=True)) == [second.pk]
    assert Exchange.objects.get(pk=over.pk).verdict == verdict != VerdictCode.UNKNOWN
    assert list(Run.objects.active().values_list("pk", flat=True)) == [second.pk]
