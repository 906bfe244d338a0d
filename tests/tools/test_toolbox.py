"""Running a call, whatever happens."""

import asyncio
import time
from threading import Barrier
from typing import Any

import pytest

from sessions_app.errors import ToolError
from sessions_app.panels import TOOLBOX
from sessions_app.tools import Toolbox, ToolContext
from sessions_app.tools.toolbox import CHANGED, OUTPUT_LIMIT, tool
from sessions_app.values import check_json


def sulk() -> dict[str, Any]:
    """Always says no."""
    raise ToolError("No.", hint="Ask somebody else.")


def crash() -> dict[str, Any]:
    """Always breaks."""
    raise RuntimeError("a detail that is nobody's business")


def doze() -> dict[str, Any]:
    """Takes its time on a thread."""
    time.sleep(0.2)
    return {"ok": True}


async def wait() -> dict[str, Any]:
    """Never comes back."""
    await asyncio.Event().wait()
    return {}


async def echo(text: str) -> dict[str, Any]:
    """Says it again."""
    return {"text": text}


def garble() -> dict[str, Any]:
    """Gives what JSON cannot hold."""
    return {"value": object()}


def flood() -> dict[str, Any]:
    """Says far too much."""
    return {"text": "ä" * OUTPUT_LIMIT}


def whisper() -> dict[str, Any]:
    """Is there for those who ask."""
    return {}


BOX = Toolbox(tool(function, "demo", "Test") for function in (sulk, crash, doze, wait, echo, flood, garble))


def odd() -> dict[str, Any]:
    """Answers with what is no JSON"""
    return {"half": "a\ud800b", "nul": "\0", "number": float("nan"), "digits": 10**30, "good": [1, "é"]}


async def test_a_response_that_is_no_json_is_mended_and_says_so(context: ToolContext) -> None:
    result = await Toolbox([tool(odd, "demo", "Odd")]).run("odd", {}, context)
    assert not result.failed and check_json(result.response)
    assert result.response == {
        "remark": CHANGED,
        "half": "a\ufffdb",
        "nul": "\ufffd",
        "number": "nan",
        "digits": str(10**30),
        "good": [1, "é"],
    }


async def test_a_call_gives_the_response(context: ToolContext) -> None:
    result = await BOX.run("echo", {"text": "a"}, context)
    assert (result.response, result.failed) == ({"text": "a"}, False)


async def test_an_unknown_tool_is_answered_with_the_known_ones(context: ToolContext) -> None:
    result = await BOX.run("sing", {}, context)
    assert result.failed
    assert "crash, doze, echo" in result.response["hint"]


async def test_a_tool_that_is_not_enabled_does_not_exist(context: ToolContext) -> None:
    result = await BOX.run("echo", {"text": "a"}, context, enabled={"doze"})
    assert result.failed and "“echo”" in result.response["error"]
    assert "doze" in result.response["hint"] and "echo" not in result.response["hint"]


async def test_wrong_arguments_are_answered(context: ToolContext) -> None:
    result = await BOX.run("echo", {"words": "a"}, context)
    assert result.failed
    assert "“text”" in result.response["error"]


async def test_a_refusal_keeps_its_hint(context: ToolContext) -> None:
    result = await BOX.run("sulk", {}, context)
    assert result.response == {"error": "No.", "hint": "Ask somebody else."}


@pytest.mark.parametrize("name", ["crash", "garble"])
async def test_a_broken_tool_tells_nothing_of_its_inside(context: ToolContext, name: str) -> None:
    result = await BOX.run(name, {}, context)
    assert result.failed
    assert result.response["error"] == f"The tool “{name}” broke."


@pytest.mark.parametrize("name", ["wait", "doze"])
async def test_a_slow_tool_is_left_behind(context: ToolContext, name: str) -> None:
    result = await BOX.run(name, {}, context, timeout=0.02)
    assert result.failed
    assert "0.02" in result.response["error"]


async def test_slow_tools_do_not_hold_each_other(context: ToolContext) -> None:
    """Each waits until the other has begun."""
    both = Barrier(2)

    def meet() -> dict[str, Any]:
        """Waits for the other on a thread."""
        both.wait(timeout=30)
        return {"ok": True}

    box = Toolbox([tool(meet, "demo", "Meet")])
    results = await asyncio.gather(box.run("meet", {}, context), box.run("meet", {}, context))
    assert not any(result.failed for result in results)


async def test_a_cancellation_passes_through(context: ToolContext) -> None:
    task = asyncio.create_task(BOX.run("wait", {}, context))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_tools_come_in_groups_with_words_for_the_pages() -> None:
    demo = [one.name for one in TOOLBOX if one.group == "demo"]
    assert demo == ["book_taxi", "check_flight", "get_current_temperature"]
    groups = {"built-in", "context", "demo", "files", "memories", "notes", "todos"}
    assert {one.group for one in TOOLBOX} == groups
    assert all(one.title and one.description for one in TOOLBOX)


def test_only_standard_tools_are_on_until_a_person_says_otherwise() -> None:
    box = Toolbox([tool(echo, "demo", "Echo"), tool(whisper, "demo", "Whisper", standard=False)])
    assert box.enabled(None) == ["echo"] and box.enabled({"whisper"}) == ["whisper"]


async def test_an_answer_of_more_than_a_megabyte_is_cut_and_says_so(context: ToolContext) -> None:
    response = (await BOX.run("flood", {}, context)).response
    assert "1,000,000" in response["note"]
    assert OUTPUT_LIMIT - 1 <= len(response["output"].encode()) <= OUTPUT_LIMIT
