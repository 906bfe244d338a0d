"""The three functions of seed 2, with the answers that its examples show. Nothing real happens.

They are on offer while the emulator answers, and never with a real provider (`Toolbox.served_by`).
"""

from hashlib import sha256
from typing import Annotated

from pydantic import Field

from sessions_app.tools.toolbox import tool

TEMPERATURES = {"paris": "15C", "london": "12C"}


def check_flight(flight: Annotated[str, Field(description="The flight number to check")]) -> dict[str, str]:
    """Gets the current status of a flight"""
    if _number_for(flight, 2) and flight.strip().upper() != "AA100":
        return {"status": "on time", "departure_time": f"{1 + _number_for(flight, 11)} PM"}
    return {"status": "delayed", "departure_time": "12 PM"}


def book_taxi(time: Annotated[str, Field(description="time to book the taxi")]) -> dict[str, str]:
    """Book a taxi"""
    return {"booking_status": "success"}


def get_current_temperature(
    location: Annotated[str, Field(description="The city name, e.g. San Francisco")],
) -> dict[str, str]:
    """Gets the current temperature for a given location."""
    known = TEMPERATURES.get(location.strip().lower())
    return {"temp": known or f"{5 + _number_for(location, 25)}C"}


def _number_for(text: str, size: int) -> int:
    """A number below `size` that is always the same for the same text."""
    return sha256(text.strip().lower().encode(errors="replace")).digest()[0] % size


DEMO = (
    tool(book_taxi, "demo", "Book a taxi"),
    tool(check_flight, "demo", "Check a flight"),
    tool(get_current_temperature, "demo", "Current temperature"),
)
