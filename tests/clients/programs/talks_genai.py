"""Conversations of three questions through google-genai for Python, in any release. Arguments: URL, steps."""

import asyncio
import sys
from typing import Any

from google.genai import types

from tests.clients.programs.google_genai_client import calls_of, client, parts_of, said
from tests.clients.programs.google_genai_tools import FUNCTIONS, answered
from tests.clients.programs.steps import FLASH, GUIDE, QUESTIONS, report

BY_HAND = types.GenerateContentConfig(
    system_instruction=GUIDE,
    tools=FUNCTIONS,
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


def config(system: str = GUIDE, tools: list[Any] = FUNCTIONS) -> types.GenerateContentConfig:
    return types.GenerateContentConfig(system_instruction=system, tools=tools)


def unary() -> list[str]:
    """The SDK calls the functions."""
    chat = client.chats.create(model=FLASH, config=config())
    return [chat.send_message(question).text or "" for question in QUESTIONS]


def streamed() -> list[str]:
    """The program keeps the contents and calls the functions: a chat would keep each chunk as a content."""
    contents: list[types.Content] = []
    return [answer(contents, question) for question in QUESTIONS]


def answer(contents: list[types.Content], question: str) -> str:
    """Adds the question, the calls with their results, and the answer."""
    contents.append(said(question))
    while True:
        parts = [
            part
            for chunk in client.models.generate_content_stream(
                model=FLASH, contents=list(contents), config=BY_HAND
            )
            for each in chunk.candidates or []
            for part in parts_of(each.content)
        ]
        contents.append(types.Content(role="model", parts=parts))
        if not calls_of(contents[-1]):
            return "".join(part.text or "" for part in parts if not part.thought)
        contents.append(answered(contents[-1]))


def clock() -> list[str]:
    """The system instruction says what time it is."""
    chat = client.chats.create(model=FLASH)
    configs = [config(f"{GUIDE} The time is {hour}:00.") for hour in (9, 10, 11)]
    pairs = zip(QUESTIONS, configs, strict=True)
    return [chat.send_message(question, config=each).text or "" for question, each in pairs]


def reordered() -> list[str]:
    """The tools of the last question come in another order."""
    chat = client.chats.create(model=FLASH)
    configs = [config(), config(), config(tools=FUNCTIONS[::-1])]
    pairs = zip(QUESTIONS, configs, strict=True)
    return [chat.send_message(question, config=each).text or "" for question, each in pairs]


def tool_left() -> list[str]:
    """The last question comes without one of the tools."""
    chat = client.chats.create(model=FLASH)
    configs = [config(), config(), config(tools=FUNCTIONS[1:])]
    pairs = zip(QUESTIONS, configs, strict=True)
    return [chat.send_message(question, config=each).text or "" for question, each in pairs]


def unsigned() -> list[str]:
    """The history of the first question was kept without its signatures."""
    first = client.chats.create(model=FLASH, config=config())
    told = [first.send_message(QUESTIONS[0]).text or ""]
    history = first.get_history()
    for part in (part for content in history for part in parts_of(content)):
        part.thought_signature = None
    chat = client.chats.create(model=FLASH, config=config(), history=list(history))
    return told + [chat.send_message(question).text or "" for question in QUESTIONS[1:]]


STEPS = (unary, streamed, clock, reordered, tool_left, unsigned)

if __name__ == "__main__":
    asyncio.run(report(*(step for step in STEPS if step.__name__ in sys.argv[2:])))
