"""Servers that behave, and servers that do not, behind the guard: nothing of theirs reaches Pipeweb's loop,
memory or machine beyond its bounds.
"""

import asyncio
import stat
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sessions_app.errors import McpServerFailed, ToolError
from sessions_app.mcp.connections import AT_ONCE, Connections
from sessions_app.mcp.listing import TOOL_LIMIT, Listing
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp_codes import ListingLoss, SchemaLoss, ServerProblem, ServerTransport
from tests.mcp.entering import HOSTILE

GUARD = Path(__file__).parents[2] / "sessions_app" / "mcp" / "guard.py"


class Watched:
    """Connections with what they reported."""

    def __init__(self) -> None:
        self.listings: list[Listing] = []
        self.failures: list[ServerProblem] = []
        self.connections = Connections(self._take, self._note)

    async def _take(self, spec: ServerSpec, listing: Listing) -> None:
        self.listings.append(listing)

    async def _note(self, spec: ServerSpec, failure: McpServerFailed) -> None:
        self.failures.append(failure.reason)

    async def call(
        self, spec: ServerSpec, tool: str = "echo", person: int = 1, **args: Any
    ) -> dict[str, Any]:
        return await self.connections.call(spec, person, tool, args)


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    watched = Watched()
    yield watched
    await watched.connections.close()


PLAIN = (sys.executable, str(HOSTILE), "plain")


def server(way: str = "plain", **facts: Any) -> ServerSpec:
    command = (sys.executable, str(HOSTILE), way)
    return ServerSpec(way, "test", ServerTransport.STDIO, **{"command": command, **facts})


async def failing(watched: Watched, spec: ServerSpec) -> ServerProblem:
    with pytest.raises(McpServerFailed) as raised:
        await watched.call(spec)
    return raised.value.reason


def is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


async def gone(pid: int) -> bool:
    for _ in range(200):
        if not is_running(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_calls_of_a_person_share_one_process_and_other_people_have_their_own(watched: Watched) -> None:
    said = [await watched.call(server(), "count") for _ in range(2)]
    assert said == [{"text": "1"}, {"text": "2"}]
    assert await watched.call(server(), "count", person=2) == {"text": "1"}
    assert watched.connections.count == 2 and len(watched.listings) == 2


async def test_an_idle_server_is_stopped_and_started_again_with_the_next_call(watched: Watched) -> None:
    spec = server(idle_seconds=0.2)
    await watched.call(spec, "count")
    await asyncio.sleep(0.8)
    assert watched.connections.count == 0
    assert await watched.call(spec, "count") == {"text": "1"} and watched.failures == []


async def test_a_server_whose_row_has_changed_is_replaced(watched: Watched) -> None:
    await watched.call(server(), "count")
    assert await watched.call(server(secrets={"A": "1"}), "count") == {"text": "1"}
    assert watched.connections.count == 1


def mode_of(folder: str) -> int | None:
    return stat.S_IMODE(Path(folder).stat().st_mode) if Path(folder).is_dir() else None


async def test_it_has_no_variable_of_ours_and_a_home_that_goes(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "no-key-for-servers")
    monkeypatch.setenv("SECRET_KEY", "nor-this")
    text = (await watched.call(server("environment", secrets={"TOKEN": "given"})))["text"]
    assert "no-key-for-servers" not in text and "nor-this" not in text and '"TOKEN": "given"' in text
    home = text.partition('"cwd": "')[2].partition('"')[0]
    assert mode_of(home) == 0o700
    await watched.connections.close()
    assert mode_of(home) is None


@pytest.mark.parametrize(
    ("way", "problem", "facts"),
    [
        ("die_at_start", ServerProblem.ENDED, {}),
        ("hang_start", ServerProblem.START_TIMEOUT, {"start_seconds": 0.5}),
        ("hang_list", ServerProblem.LIST_TIMEOUT, {"list_seconds": 0.5}),
        ("wrong_list", ServerProblem.UNREADABLE, {}),
        ("flood_line", ServerProblem.ENDED, {}),
        ("die_in_call", ServerProblem.ENDED, {}),
        ("long_line", ServerProblem.ENDED, {}),
        ("wrong_result", ServerProblem.UNREADABLE, {}),
    ],
)
async def test_a_server_that_fails_is_named_with_its_reason(
    watched: Watched, way: str, problem: ServerProblem, facts: dict[str, float]
) -> None:
    began = time.monotonic()
    assert await failing(watched, server(way, **facts)) == problem
    assert watched.failures == [problem] and watched.connections.count == 0
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("way", ["hang_start", "hang_list"])
async def test_a_shutdown_and_a_changed_row_wait_for_no_start(watched: Watched, way: str) -> None:
    """A run that was stopped has left its server behind, which hangs."""
    began = time.monotonic()
    for close in (watched.connections.close, lambda: watched.call(server(way, command=PLAIN))):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await watched.call(server(way))
        await close()
    assert time.monotonic() - began < 15


async def test_a_call_that_hangs_ends_by_its_time_out_and_the_error_says_it_may_have_run(
    watched: Watched,
) -> None:
    with pytest.raises(ToolError) as raised:
        await watched.call(server("hang_call", call_seconds=0.3))
    assert "0.3 seconds" in raised.value.message and raised.value.hint


ERRORS = [("error", "Out of order."), ("server_error", "Out of order."), ("no_reason", "reason")]


@pytest.mark.parametrize(("way", "words"), ERRORS)
async def test_an_error_of_the_tool_is_one_for_the_model(watched: Watched, way: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await watched.call(server(way))
    assert watched.failures == [] and watched.connections.count == 1


async def test_lines_that_are_no_messages_are_passed_over(watched: Watched) -> None:
    assert await watched.call(server("junk"), text="heard") == {"text": "heard"}


async def test_half_a_megabyte_arrives(watched: Watched) -> None:
    assert len((await watched.call(server("half_a_megabyte")))["text"]) == 500_000


async def test_a_flood_of_messages_takes_no_more_than_its_pace(watched: Watched) -> None:
    """The loop stays free for others while the server never stops to speak."""
    flooding = asyncio.create_task(failing(watched, server("flood_messages", start_seconds=2)))
    await asyncio.sleep(1)
    began, ticks = time.process_time(), 0
    until = time.monotonic() + 0.8
    while time.monotonic() < until:
        await asyncio.sleep(0.01)
        ticks += 1
    assert ticks > 30 and time.process_time() - began < 0.6
    assert await flooding == ServerProblem.START_TIMEOUT


async def test_ten_thousand_tools_and_pages_without_an_end_are_bounded_and_said(watched: Watched) -> None:
    await watched.call(server("many"))
    await watched.call(server("endless"))
    many, endless = watched.listings
    assert len(many.tools) == TOOL_LIMIT and dict(many.losses)[ListingLoss.TOO_MANY_TOOLS] > 800
    assert len(endless.tools) == 50 and dict(endless.losses) == {ListingLoss.TOO_MANY_PAGES: 1}


async def test_a_server_that_lies_about_its_tools_is_taken_as_far_as_it_goes(watched: Watched) -> None:
    await watched.call(server("liar"))
    tools = {tool.name: tool for tool in watched.listings[0].tools}
    assert set(tools) == {"loop", "away", "deep", "echo", "huge", "wide"}
    assert (SchemaLoss.TOO_MANY_PROPERTIES, "") in tools["wide"].losses
    assert any(code == SchemaLoss.TOO_DEEP for code, _ in tools["deep"].losses)
    assert len(tools["huge"].declaration["description"]) <= 2_000
    assert dict(watched.listings[0].losses) == {ListingLoss.SAME_NAME: 1, ListingLoss.UNUSABLE_NAME: 2}


async def test_a_crash_is_followed_by_a_short_pause_and_many_by_a_refusal(watched: Watched) -> None:
    spec = server("die_in_call")
    assert await failing(watched, spec) == ServerProblem.ENDED
    began = time.monotonic()
    assert await failing(watched, spec) == ServerProblem.ENDED
    assert time.monotonic() - began > 0.5
    assert await failing(watched, spec) == ServerProblem.PAUSED
    assert len(watched.failures) == 2


async def test_one_that_died_after_its_answer_is_started_again(watched: Watched) -> None:
    spec = server("die_after_call")
    assert await watched.call(spec) == {"text": "bye"}
    await asyncio.sleep(0.3)
    assert await watched.call(spec) == {"text": "bye"}


async def test_the_end_of_stderr_is_kept_in_a_file_for_its_owner(watched: Watched, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "one.log"
    await watched.call(server("stderr", stderr=log))
    await asyncio.sleep(0.5)
    text = log.read_text()
    assert text.endswith("the end\n") and len(text) <= 64_000
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_what_a_server_started_ends_with_it(watched: Watched, tmp_path: Path) -> None:
    log = tmp_path / "children.log"
    await watched.call(server("children", stderr=log))
    await asyncio.sleep(0.3)
    child, itself = map(int, log.read_text().split())
    assert is_running(child) and is_running(itself)
    await watched.connections.close()
    assert await gone(child) and await gone(itself)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_nothing_is_left_when_pipeweb_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,"
        " stderr=open(sys.argv[1], 'w+b'), start_new_session=True)\n"
        "time.sleep(600)\n"
    )
    guarded = [sys.executable, "-I", str(GUARD), "", sys.executable, str(HOSTILE), "children"]
    pipeweb = await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(log), *guarded)
    try:
        for _ in range(300):
            await asyncio.sleep(0.02)
            if log.exists() and log.read_text().strip():
                break
        child, itself = map(int, log.read_text().split())
        assert is_running(child) and is_running(itself)
    finally:
        pipeweb.kill()
        await pipeweb.wait()
    assert await gone(child) and await gone(itself)


async def test_idle_servers_make_room_and_busy_ones_do_not(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert AT_ONCE > 1
    monkeypatch.setattr("sessions_app.mcp.connections.AT_ONCE", 1)
    await watched.call(server(), person=1)
    await watched.call(server(), person=2)
    assert watched.connections.count == 1
    busy = asyncio.create_task(watched.call(server("hang_call", call_seconds=3), person=3))
    await asyncio.sleep(1)
    with pytest.raises(McpServerFailed) as raised:
        await watched.call(server(), person=4)
    assert raised.value.reason == ServerProblem.TOO_MANY
    with pytest.raises(ToolError):
        await busy
