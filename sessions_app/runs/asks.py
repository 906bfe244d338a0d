"""The tools of servers in a run: which it has, and what has to be asked before its calls."""

from collections.abc import Sequence

from sessions_app.database import database_sync_to_async
from sessions_app.errors import RunWaits
from sessions_app.panels.mcp_tools import kept_rows, names_servers, toolbox_of_run
from sessions_app.prompt.calls import FunctionCall
from sessions_app.runs.approvals import Decisions, unsettled
from sessions_app.runs.parking import ask_deadline
from sessions_app.runs.run_streams import LiveRun
from sessions_app.tools import Toolbox


async def tools_of_run(live: LiveRun, base: Toolbox) -> Toolbox:
    """The tools of a run, until it is over. No query without tools of servers."""
    run, kept = live.run, live.parked.tools if live.parked else []
    if not kept and not names_servers(run.session.chosen_tools):
        return base
    return await database_sync_to_async(toolbox_of_run)(run, base, kept)


async def settle(
    live: LiveRun,
    step: int,
    toolbox: Toolbox,
    turn: int,
    *,
    calls: Sequence[FunctionCall],
    enabled: Sequence[str],
) -> Decisions:
    """What was decided about the calls of a turn. Raises RunWaits where something is open, and shows it."""
    if live.parked is None and not any(toolbox.remote(call.name) for call in calls):
        return {}
    asked, decisions = await database_sync_to_async(unsettled)(live.run, turn, calls, toolbox, enabled)
    if not asked:
        return decisions
    expires_at = ask_deadline()
    for call in asked:
        if (tool := toolbox.remote(call.name)) is not None:
            live.show_ask(step, call, toolbox.title_of(call.name), tool.server_title, expires_at)
    live.show_status("Waiting for you…")
    indices = [call.index for call in asked]
    raise RunWaits(turn, indices, expires_at, step=step, tools=kept_rows(toolbox))
