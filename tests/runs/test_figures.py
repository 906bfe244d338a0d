"""What a run leaves in the figures of its process."""

from sessions_app.instruments import ACTIVE_RUNS, REGISTRY
from sessions_app.models import Session
from sessions_app.runs.runner import Runner
from tests.runs.conftest import Ask
from tests.runs.viewing import send, watch


def figure(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_a_finished_run_counts_its_end_its_events_and_its_chunks(ask: Ask) -> None:
    ended = figure("pipeweb_runs_ended_total", status="completed")
    events, chunks = figure("pipeweb_events_total"), figure("pipeweb_chunks_total")
    await ask("Hello")
    assert figure("pipeweb_runs_ended_total", status="completed") == ended + 1
    assert figure("pipeweb_events_total") > events and figure("pipeweb_chunks_total") > chunks


async def test_a_failure_counts_under_its_class(ask: Ask) -> None:
    before = figure("pipeweb_errors_total", kind="BadRequest")
    await ask("/error 400")
    assert figure("pipeweb_errors_total", kind="BadRequest") == before + 1


async def test_a_run_is_active_until_it_is_over(runner: Runner, session: Session) -> None:
    before = ACTIVE_RUNS._value.get()
    run = await send(runner, session, "/slow")
    await watch(runner, session, run, until="text")
    assert ACTIVE_RUNS._value.get() == before + 1
    await runner.stop(session.pk, run)
    await runner.drain()
    assert ACTIVE_RUNS._value.get() == before
