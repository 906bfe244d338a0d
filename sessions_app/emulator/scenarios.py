"""Scripted behaviour, chosen by the newest user text.

A scenario is a function from Scene to Script, or None when the text is not its cue. The first
that answers plays; the plain answer always does. Functions are called only when the request
declares them.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sessions_app.emulator.phrases import find_phrase
from sessions_app.emulator.plain import answer_plainly, missing_function, report
from sessions_app.emulator.scripts import Ask, Scene, Script
from sessions_app.emulator.summaries import summary

Scenario = Callable[[Scene], Script | None]

_FLIGHT = re.compile(r"check (?:the )?flight status for (\w+)(.*)", re.I | re.S)
_TAXI = re.compile(r"taxi(?: (\d+) hours? before)?", re.I)
_WEATHER = re.compile(r"(?:weather|cuaca|temperature)\s+(?:in|di)\s+([^.?!\n]+)", re.I)
_BETWEEN_PLACES = re.compile(r"\s*,\s*(?:and\s+|dan\s+)?|\s+(?:and|dan|&)\s+", re.I)
_MOST_CALLS = 8


def play(scene: Scene) -> Script:
    """The first scenario whose cue the text is."""
    played = (scenario(scene) for scenario in SCENARIOS)
    return next((script for script in played if script is not None), answer_plainly(scene))


def flight_and_taxi(scene: Scene) -> Script | None:
    """Seed 2, sequential calls: the second call depends on the first answer."""
    if not (match := _FLIGHT.search(scene.text)):
        return None
    wanted = {"check_flight", "book_taxi"} if _TAXI.search(match[2]) else {"check_flight"}
    if missing := sorted(wanted - scene.functions.keys()):
        return missing_function(scene, missing)
    if scene.last is None:
        return _call(scene, "check_flight", match[1].upper())
    answer = scene.last.answers[0].response or {}
    if scene.last.calls[0].name == "check_flight" and answer.get("status") == "delayed" and len(wanted) == 2:
        return _call(scene, "book_taxi", taxi_time(str(answer.get("departure_time", "")), match[2]))
    return _tell_of_flight(scene, match[1].upper())


def weather(scene: Scene) -> Script | None:
    """Seed 2, parallel calls: one per place, answered together."""
    if not (match := _WEATHER.search(scene.text)):
        return None
    places = [place.strip() for place in _BETWEEN_PLACES.split(match[1]) if place.strip()][:_MOST_CALLS]
    if not places or "get_current_temperature" not in scene.functions:
        return missing_function(scene, ["get_current_temperature"])
    if scene.last is None:
        asks = tuple(_ask(scene, "get_current_temperature", place) for place in places)
        thought = f"**Asking for the weather**\n\nOne call for each of: {', '.join(places)}."
        return Script(calls=asks, thoughts=(thought,))
    lines = [
        f"- **{place}**: {_reading(answer.response or {})}"
        for place, answer in zip(places, scene.last.answers, strict=False)
    ]
    return Script(text="Here is the weather:\n\n" + "\n".join(lines), thoughts=_REPORTING)


def spoken_tools(scene: Scene) -> Script | None:
    """The phrases that call a built-in tool."""
    if not (found := find_phrase(scene.text)):
        return None
    phrase, values = found
    if phrase.function not in scene.functions:
        return missing_function(scene, [phrase.function])
    return _call(scene, phrase.function, *values) if scene.last is None else None


def tool_report(scene: Scene) -> Script | None:
    """Whatever was called, its answers are told."""
    return Script(text=report(scene.last), thoughts=_REPORTING) if scene.last else None


SCENARIOS: tuple[Scenario, ...] = (summary, flight_and_taxi, weather, spoken_tools, tool_report)

_REPORTING = ("**Reading the answers**\n\nThe functions have answered; what they said goes into the text.",)


def taxi_time(departure: str, request: str) -> str:
    """`12 PM` and "2 hours before" give `10 AM`; an unreadable time is handed on as it is."""
    asked = _TAXI.search(request)
    hours = int(asked[1]) if asked and asked[1] else 2
    for form in ("%I %p", "%I:%M %p", "%H:%M"):
        try:
            moment = datetime.strptime(departure.strip().upper(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return (moment - timedelta(hours=hours)).strftime(form).lstrip("0")
    return departure


def _tell_of_flight(scene: Scene, flight: str) -> Script:
    answers = {answer.name: answer.response or {} for done in scene.rounds for answer in done.answers}
    status = answers.get("check_flight", {})
    text = f"Flight {flight} is {status.get('status', 'of unknown status')}"
    text += f", departing at {status['departure_time']}." if "departure_time" in status else "."
    if "book_taxi" in answers:
        booked = answers["book_taxi"].get("booking_status") == "success"
        time = next(ask.args for done in scene.rounds for ask in done.calls if ask.name == "book_taxi")
        told = next(iter(time.values()), "")
        text += f" I booked a taxi for {told}." if booked else " The taxi could not be booked."
    elif _TAXI.search(scene.text):
        text += " No taxi is needed."
    return Script(text=text, thoughts=_REPORTING)


def _reading(response: dict[str, object]) -> str:
    return ", ".join(str(value) for value in response.values()) or "no answer"


def _call(scene: Scene, name: str, *values: object) -> Script:
    thought = f"**Choosing a function**\n\nThe request needs `{name}`, which is declared."
    return Script(calls=(_ask(scene, name, *values),), thoughts=(thought,))


def _ask(scene: Scene, name: str, *values: object) -> Ask:
    """Arguments take the names of the declaration, in declared order."""
    return Ask(name, dict(zip(scene.functions[name].arguments, values, strict=False)))
