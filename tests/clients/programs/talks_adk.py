"""Conversations of three questions with an agent of google-adk. Arguments: URL, steps."""

import asyncio
import os
import sys
from collections.abc import Iterator
from typing import Any

os.environ.update(
    GOOGLE_GEMINI_BASE_URL=sys.argv[1], GOOGLE_API_KEY="emulator", GOOGLE_GENAI_USE_VERTEXAI="0"
)

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types

from tests.clients.programs.google_adk_main import book_taxi, check_flight, get_current_temperature
from tests.clients.programs.steps import FLASH, GUIDE, QUESTIONS, report

TOOLS = [check_flight, book_taxi, get_current_temperature]


async def told(agent: Agent, mode: StreamingMode) -> list[str]:
    runner = InMemoryRunner(agent=agent, app_name="travel")
    session = await runner.session_service.create_session(app_name="travel", user_id="ada")
    return [await answer(runner, session.id, question, mode) for question in QUESTIONS]


async def answer(runner: InMemoryRunner, session: str, question: str, mode: StreamingMode) -> str:
    content = types.Content(role="user", parts=[types.Part(text=question)])
    events = runner.run_async(
        user_id="ada", session_id=session, new_message=content, run_config=RunConfig(streaming_mode=mode)
    )
    parts = [
        part
        async for event in events
        if not event.partial
        for part in (event.content.parts if event.content else None) or []
    ]
    return "".join(part.text or "" for part in parts if not part.thought)


def guide(**others: Any) -> Agent:
    return Agent(name="guide", model=FLASH, **{"instruction": GUIDE, "tools": TOOLS, **others})


async def unary() -> list[str]:
    return await told(guide(), StreamingMode.NONE)


async def streamed() -> list[str]:
    return await told(guide(), StreamingMode.SSE)


async def clock() -> list[str]:
    """The instruction says what time it is: another in every request."""
    times: Iterator[int] = iter(range(100, 200))
    agent = guide(instruction=lambda context: f"{GUIDE} The time is {next(times)} minutes past nine.")
    return await told(agent, StreamingMode.NONE)


STEPS = (unary, streamed, clock)

if __name__ == "__main__":
    asyncio.run(report(*(step for step in STEPS if step.__name__ in sys.argv[2:])))
