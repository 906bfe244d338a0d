"""A run as it is stored, with its first request, which the same piece of database work prepares.

A piece of its own would cost as much as ten statements before the first word.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from sessions_app.errors import BudgetHeld, FilesNotUploaded
from sessions_app.models import Run, Session, Turn
from sessions_app.panels.mcp_tools import names_servers
from sessions_app.panels.refresh import uses_programs
from sessions_app.runs.request import Endpoint, PreparedRequest, prepare
from sessions_app.tools import Toolbox

FirstOutcome = Future[PreparedRequest]
"""It is done: it has the request, or what keeps the run from it."""


@dataclass(frozen=True, slots=True)
class Created:
    """`files` are those of the message as HTML. Without `first` the request waits for something else."""

    run: Run
    files: str
    first: FirstOutcome | None


def create_run(
    start: Callable[[], Run | None],
    render_files: Callable[[Session, Turn], str],
    prepare_first: Callable[[Run], FirstOutcome | None],
) -> Created | None:
    """Stores the run that `start` begins, if any, and prepares its first request."""
    run = start()
    if run is None:
        return None
    return Created(run, render_files(run.session, run.task) if run.task else "", prepare_first(run))


def first_request(run: Run, endpoint: Endpoint, toolbox: Toolbox) -> FirstOutcome | None:
    """None where something comes before it: tools that a server lists, programs, left calls, money, files."""
    session = run.session
    if run.is_resumed or names_servers(session.chosen_tools) or uses_programs(session.options):
        return None
    first = FirstOutcome()
    try:
        first.set_result(prepare(run, 1, endpoint, toolbox, begun=session))
    except (BudgetHeld, FilesNotUploaded):
        return None
    except Exception as error:  # noqa: BLE001 (raised in the run, which ends with it)
        first.set_exception(error)
    return first
