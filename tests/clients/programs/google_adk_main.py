"""An agent of google-adk with three tools. Argument: the emulator's URL."""

import asyncio
import os
import sys
from typing import Any

os.environ.update(
    GOOGLE_GEMINI_BASE_URL=sys.argv[1], GOOGLE_API_KEY="emulator", GOOGLE_GENAI_USE_VERTEXAI="0"
)

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types

from tests.clients.programs.steps import FLASH, FLIGHT, WEATHER, report

CALLED: list[str] = []


def check_flight(flight: str) -> dict[str, str]:
    """Status of a flight."""
    CALLED.append(f"check_flight {flight}")
    return {"status": "delayed", "departure_time": "12 PM"}


def book_taxi(time: str) -> dict[str, str]:
    """Book a taxi."""
    CALLED.append(f"book_taxi {time}")
    return {"booking_status": "success"}


def get_current_temperature(location: str) -> dict[str, str]:
    """Temperature of a place."""
    CALLED.append(f"get_current_temperature {location}")
    return {"temp": {"Paris": "15C", "London": "12C", "Rome": "21C"}[location]}


async def told(message: str, model: str = FLASH, mode: StreamingMode = StreamingMode.NONE) -> dict[str, Any]:
    """One message to a new agent: its calls, whether each was signed, and its last text."""
    CALLED.clear()
    tools: list[Any] = [check_flight, book_taxi, get_current_temperature]
    agent = Agent(name="guide", model=model, instruction="Help with travel.", tools=tools)
    runner = InMemoryRunner(agent=agent, app_name="travel")
    session = await runner.session_service.create_session(app_name="travel", user_id="ada")
    content = types.Content(role="user", parts=[types.Part(text=message)])
    events = runner.run_async(
        user_id="ada", session_id=session.id, new_message=content, run_config=RunConfig(streaming_mode=mode)
    )
    parts = [
        part
        async for event in events
        if not event.partial
        for part in (event.content.parts if event.content else None) or []
    ]
    return {
        "called": sorted(CALLED),
        "calls": [part.function_call.name for part in parts if part.function_call],
        "signed": [bool(part.thought_signature) for part in parts if part.function_call],
        "text": "".join(part.text or "" for part in parts if not part.thought),
    }


async def text() -> dict[str, Any]:
    return await told("hello")


async def sequential() -> dict[str, Any]:
    return await told(FLIGHT)


async def parallel() -> dict[str, Any]:
    return await told(f"{WEATHER[:-1]} and Rome.")


async def streamed_sequential() -> dict[str, Any]:
    return await told(FLIGHT, mode=StreamingMode.SSE)


async def streamed_parallel() -> dict[str, Any]:
    return await told(f"{WEATHER[:-1]} and Rome.", mode=StreamingMode.SSE)


async def older_model() -> dict[str, Any]:
    return await told(f"{WEATHER[:-1]} and Rome.", model="gemini-2.5-flash")


STEPS = (text, sequential, parallel, streamed_sequential, streamed_parallel, older_model)

if __name__ == "__main__":
    asyncio.run(report(*STEPS))
