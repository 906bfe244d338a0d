"""Which sessions a process keeps a stream of."""

from sessions_app.models import Session
from sessions_app.runs.run_poller import RunPoller
from sessions_app.runs.runner import Runner
from sessions_app.runs.session_streams import SessionStream
from tests.runs.conftest import Ask

ELSEWHERE = 10**9
"""A key that no session of a test has."""


class Followed(SessionStream):
    """A stream that has viewers, and counts who looks at it."""

    looks = 0

    @property
    def is_idle(self) -> bool:
        self.looks += 1
        return False


async def test_the_end_of_a_run_looks_at_no_other_sessions_stream(
    runner: Runner, session: Session, ask: Ask
) -> None:
    """There may be thousands: one for each open page."""
    other = runner.streams[ELSEWHERE] = Followed()
    await ask("Hello")
    assert [*runner.streams] == [ELSEWHERE]
    assert other.looks == 0


async def test_a_poll_forgets_what_has_neither_viewers_nor_a_run(runner: Runner, session: Session) -> None:
    runner.streams.open(session.pk)
    runner.streams[ELSEWHERE] = Followed()
    await RunPoller(runner).poll()
    assert [*runner.streams] == [ELSEWHERE]


async def test_a_second_page_loads_what_the_first_could_not(runner: Runner, session: Session) -> None:
    stream = runner.streams.open(session.pk)
    stream.viewers = 2
    await runner.streams._load(session.pk, stream)
    assert stream.is_loaded
