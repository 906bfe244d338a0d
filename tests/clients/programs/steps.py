"""What the Python programs share: their guard against other machines, and the report of their steps.

A program runs in the environment of its client, so this module needs the standard library only.
"""

import inspect
import ipaddress
import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed."
WEATHER = "Check the weather in Paris and London."
LONDON = "Check the weather in London."
QUESTIONS = (FLIGHT, WEATHER, LONDON)
"""Three turns with calls: one after another, two at once, one."""
RULES = " ".join(f"Rule {number}: ask before you book anything." for number in range(700))
GUIDE = f"Help people with their travels, in short sentences. {RULES}"
"""Long enough for an implicit cache."""

FLASH = "gemini-3-flash-preview"

OUTSIDE: list[str] = []
"""Hosts that were asked for although no request may leave this machine."""


def refuse_other_machines(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: it hears of every look-up and connection, whatever library makes it."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if not is_this_machine(host):
        OUTSIDE.append(str(host))
        raise ConnectionRefusedError(f"a test may not reach {host}")


def is_this_machine(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


async def report(*steps: Callable[[], Any]) -> None:
    """Prints what each step found, by its name, as one JSON object; a step that fails stops no other."""
    sys.addaudithook(refuse_other_machines)
    found = {step.__name__: await outcome_of(step) for step in steps}
    print(json.dumps({"steps": found, "outside": OUTSIDE}))


async def outcome_of(step: Callable[[], Any]) -> dict[str, Any]:
    try:
        result = step()
        return {"result": await result if inspect.isawaitable(result) else result}
    except Exception:  # noqa: BLE001  the outermost edge: the test that asks for this step shows it
        return {"failure": traceback.format_exc()}
