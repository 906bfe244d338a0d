"""Scripted behaviour, chosen by the newest user text.

A scenario takes the context and returns a reply, or None when the text is not its cue. The first
that replies wins; a text that is no cue gets the default answer. Functions are called only when
the request declares them. What to type for a tool stands in `PHRASES`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson

from sessions_app.emulator.default_answer import describe_request, describe_responses, missing_function
from sessions_app.emulator.gemini_requests import FunctionResponse
from sessions_app.emulator.provider_tools import use_provider_tools
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedCall, ScriptedReply
from sessions_app.emulator.tool_results import result_of

Scenario = Callable[[ScenarioContext], ScriptedReply | None]

Values = tuple[object, ...]

_FLIGHT = re.compile(r"check (?:the )?flight status for (\w+)(.*)", re.I | re.S)
_TAXI = re.compile(r"taxi(?: (\d+) hours? before)?", re.I)
_WEATHER = re.compile(r"(?:weather|cuaca|temperature)\s+(?:in|di)\s+([^.?!\n]+)", re.I)
_BETWEEN_PLACES = re.compile(r"\s*,\s*(?:and\s+|dan\s+)?|\s+(?:and|dan|&)\s+", re.I)
_NAMED = re.compile(r"^call[ \t]+([A-Za-z_][\w.-]{0,63})(?:[ \t]+(\{.*\}))?[ \t]*$", re.M)
_MOST_CALLS = 8
_REPORTING = ("**Reading the answers**\n\nThe functions have answered; what they said goes into the text.",)
_EXAMPLES = 3
_DEMO_EXAMPLES = {
    "check_flight": "Check flight status for AA100 and book a taxi 2 hours before if delayed",
    "get_current_temperature": "Check the weather in Paris and London",
}

_SUMMARY = re.compile(r"write a summary of the (?:answer|conversation)", re.I)
_SAID = re.compile(r"^\[(user|assistant)\]: (.+)", re.M)
_FIRST_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|$)")
_MOST_MESSAGES = 12
_SENTENCE_LENGTH = 160


@dataclass(frozen=True, slots=True)
class Phrase:
    """`cue` finds the request in a text, `values` turns its groups into arguments in declared order."""

    function: str
    example: str
    cue: str
    values: Callable[[tuple[str, ...]], Values] = tuple


def _one_number(groups: tuple[str, ...]) -> Values:
    return (int(groups[0]),)


def _path_and_range(groups: tuple[str, ...]) -> Values:
    return (groups[2], int(groups[0]), int(groups[1]))


def _path_new_old(groups: tuple[str, ...]) -> Values:
    return (groups[0], groups[2], groups[1])


def _panel_and_state(groups: tuple[str, ...]) -> Values:
    return (groups[1], groups[0].lower() == "on")


def _number_and_note(groups: tuple[str, ...]) -> Values:
    return (int(groups[0]), groups[1].strip())


def _trimmed(groups: tuple[str, ...]) -> Values:
    return tuple(group.strip() for group in groups)


PHRASES = (
    Phrase(
        "complete_todo", "complete todo 1", r"\b(?:complete|finish) (?:the )?todo (\d{1,9})\b", _one_number
    ),
    Phrase("add_todo", "add a todo: water the plants", r"\badd (?:a )?todo\s*:\s*(.+)", _trimmed),
    Phrase("list_todos", "list my todos", r"^(?:(?:list|show)(?: me)? )?(?:my )?todos\W*$"),
    Phrase("remove_todo", "remove todo 1", r"\b(?:remove|delete) (?:the )?todo (\d{1,9})\b", _one_number),
    Phrase("remember", "remember: I like rye bread", r"^remember\s*:\s*(.+)", _trimmed),
    Phrase("forget", "forget memory 1", r"^forget (?:the )?memory (\d{1,9})\b", _one_number),
    Phrase("current_time", "what time is it", r"\bwhat time is it\b|\bwhat(?:'s| is) the time\b"),
    Phrase("calculate", "calculate 2*(3+4)", r"^calculate\s+(.+?)[\s?=]*$", _trimmed),
    Phrase("write_artifact", "write notes.md: hello", r"^write\s+(\S+?)\s*:\s*(.+)", _trimmed),
    Phrase("open_file", "open notes.md", r"^open\s+(?:the )?(?:file )?(\S+\.\w+)\W*$", _trimmed),
    Phrase("close_file", "close notes.md", r"^close\s+(?:the )?(?:file )?(\S+\.\w+)\W*$", _trimmed),
    Phrase(
        "close_file",
        "close notes.md and note: it is a greeting",
        r"^close\s+(?:the )?(?:file )?(\S+\.\w+) and note\s*:\s*(.+)",
        _trimmed,
    ),
    Phrase(
        "switch_panel", "switch on the panel tree", r"^switch (on|off) the panel (\w+)\W*$", _panel_and_state
    ),
    Phrase(
        "drop_history",
        "drop part 1 of the history and note: we met",
        r"^drop part (\d{1,9}) of the history and note\s*:\s*(.+)",
        _number_and_note,
    ),
    Phrase("write_note", "note: the key is under the mat", r"^note\s*:\s*(.+)", _trimmed),
    Phrase("list_files", "list my files", r"^(?:(?:list|show)(?: me)? )?(?:my )?files\W*$"),
    Phrase("search_files", "search my files for hello", r"^search (?:my )?files for\s+(.+)", _trimmed),
    Phrase(
        "read_range",
        "read lines 1 to 20 of notes.md",
        r"^read lines (\d{1,9}) to (\d{1,9}) of (\S+\.\w+)\W*$",
        _path_and_range,
    ),
    Phrase(
        "edit_file",
        "in notes.md replace “hello” by “good morning”",
        r"^in\s+(\S+\.\w+) replace “(.+)” by “(.*)”",
        _path_new_old,
    ),
    Phrase("move_file", "move notes.md to plans/notes.md", r"^move\s+(\S+\.\w+) to (\S+\.\w+)\W*$", _trimmed),
    Phrase("delete_file", "delete file notes.md", r"^delete (?:the )?file\s+(\S+\.\w+)\W*$", _trimmed),
    Phrase("read_file", "read notes.md", r"^read\s+(?:the )?(?:file )?(\S+\.\w+)\W*$", _trimmed),
)


def play(context: ScenarioContext) -> ScriptedReply:
    """The reply of the first scenario whose cue the text is, else the default answer."""
    for scenario in SCENARIOS:
        if reply := scenario(context):
            return reply
    spoken = [phrase.example for phrase in reversed(PHRASES) if phrase.function in context.functions]
    demos = [example for name, example in _DEMO_EXAMPLES.items() if name in context.functions]
    known = {*_DEMO_EXAMPLES, *(phrase.function for phrase in PHRASES)}
    named = [f"call {name}" for name in context.functions if name not in known]
    return describe_request(context, demos + (named[:_EXAMPLES] + spoken)[-_EXAMPLES:])


def find_phrase(text: str) -> tuple[Phrase, Values] | None:
    """The first phrase the text uses, with the values it gives."""
    for phrase in PHRASES:
        if match := re.search(phrase.cue, text, re.I | re.S):
            return phrase, phrase.values(match.groups())
    return None


def flight_and_taxi(context: ScenarioContext) -> ScriptedReply | None:
    """Seed 2, sequential calls: the second call depends on the first answer."""
    if not (match := _FLIGHT.search(context.text)):
        return None
    wanted = {"check_flight", "book_taxi"} if _TAXI.search(match[2]) else {"check_flight"}
    if missing := sorted(wanted - context.functions.keys()):
        return missing_function(context, missing)
    if context.last is None:
        return _call(context, "check_flight", match[1].upper())
    answer = result_of(context.last.answers[0])
    if (
        context.last.calls[0].name == "check_flight"
        and answer.get("status") == "delayed"
        and len(wanted) == 2
    ):
        return _call(context, "book_taxi", taxi_time(str(answer.get("departure_time", "")), match[2]))
    return _describe_flight(context, match[1].upper())


def weather(context: ScenarioContext) -> ScriptedReply | None:
    """Seed 2, parallel calls: one per place, answered together."""
    if not (match := _WEATHER.search(context.text)):
        return None
    places = [place.strip() for place in _BETWEEN_PLACES.split(match[1]) if place.strip()][:_MOST_CALLS]
    if not places or "get_current_temperature" not in context.functions:
        return missing_function(context, ["get_current_temperature"])
    if context.last is None:
        asks = tuple(_ask(context, "get_current_temperature", place) for place in places)
        thought = f"**Asking for the weather**\n\nOne call for each of: {', '.join(places)}."
        return ScriptedReply(calls=asks, thoughts=(thought,))
    lines = [f"- **{place}**: {_reading(result_of(answer))}" for place, answer in _readings(context, places)]
    return ScriptedReply(text="Here is the weather:\n\n" + "\n".join(lines), thoughts=_REPORTING)


def _readings(context: ScenarioContext, places: Sequence[str]) -> Iterator[tuple[str, FunctionResponse]]:
    """Each place with its answer: some clients send calls of one answer back as rounds of their own."""
    pairs = (pair for done in context.rounds for pair in zip(done.calls, done.answers, strict=False))
    told = {str(next(iter(call.args.values()), "")): answer for call, answer in pairs}
    return ((place, told[place]) for place in places if place in told)


def spoken_tools(context: ScenarioContext) -> ScriptedReply | None:
    """The phrases that call a built-in tool."""
    if not (found := find_phrase(context.text)):
        return None
    phrase, values = found
    if phrase.function not in context.functions:
        return missing_function(context, [phrase.function])
    return _call(context, phrase.function, *values) if context.last is None else None


def named_calls(context: ScenarioContext) -> ScriptedReply | None:
    """`call name {"argument": 1}`: any function by its name, one in each line, called together."""
    found = _NAMED.findall(context.text)
    if not found or context.last is not None:
        return None
    if missing := sorted({name for name, _ in found} - context.functions.keys()):
        return missing_function(context, missing)
    calls = tuple(ScriptedCall(name, _object(arguments)) for name, arguments in found[:_MOST_CALLS])
    return ScriptedReply(calls=calls, thoughts=("**Calling**\n\nAs the message says.",))


def _object(text: str) -> dict[str, object]:
    """What does not read as a JSON object counts as no arguments."""
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def tool_report(context: ScenarioContext) -> ScriptedReply | None:
    """After any other call: its responses as text."""
    return ScriptedReply(text=describe_responses(context.last), thoughts=_REPORTING) if context.last else None


def taxi_time(departure: str, request: str) -> str:
    """`12 PM` and "2 hours before" give `10 AM`; an unreadable time is returned unchanged."""
    match = _TAXI.search(request)
    hours = int(match[1]) if match and match[1] else 2
    for form in ("%I %p", "%I:%M %p", "%H:%M"):
        try:
            moment = datetime.strptime(departure.strip().upper(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return (moment - timedelta(hours=hours)).strftime(form).lstrip("0")
    return departure


def _describe_flight(context: ScenarioContext, flight: str) -> ScriptedReply:
    answers = {answer.name: result_of(answer) for done in context.rounds for answer in done.answers}
    status = answers.get("check_flight", {})
    text = f"Flight {flight} is {status.get('status', 'of unknown status')}"
    text += f", departing at {status['departure_time']}." if "departure_time" in status else "."
    if "book_taxi" in answers:
        booked = answers["book_taxi"].get("booking_status") == "success"
        time = next(ask.args for done in context.rounds for ask in done.calls if ask.name == "book_taxi")
        booked_for = next(iter(time.values()), "")
        text += f" I booked a taxi for {booked_for}." if booked else " The taxi could not be booked."
    elif _TAXI.search(context.text):
        text += " No taxi is needed."
    return ScriptedReply(text=text, thoughts=_REPORTING)


def _reading(response: dict[str, object]) -> str:
    return ", ".join(str(value) for value in response.values()) or "no answer"


def _call(context: ScenarioContext, name: str, *values: object) -> ScriptedReply:
    thought = f"**Choosing a function**\n\nThe request needs `{name}`, which is declared."
    return ScriptedReply(calls=(_ask(context, name, *values),), thoughts=(thought,))


def _ask(context: ScenarioContext, name: str, *values: object) -> ScriptedCall:
    """Arguments take the names of the declaration, in declared order."""
    return ScriptedCall(name, dict(zip(context.functions[name].arguments, values, strict=False)))


def summary(context: ScenarioContext) -> ScriptedReply | None:
    """A summary of the content before the one that asks for it."""
    if not _SUMMARY.match(context.text) or len(context.contents) < 2:
        return None
    material = "\n".join(part.text for part in context.contents[-2].parts if part.text)
    lines = [_sentence(who, text) for who, text in _SAID.findall(material)]
    left = len(lines) - _MOST_MESSAGES
    lines = lines[:_MOST_MESSAGES] + ([f"- … and {left} more."] if left > 0 else [])
    thought = "**Summing up**\n\nThe first sentence of each message is kept."
    return ScriptedReply(text="\n".join(lines) or "Nothing was said.", thoughts=(thought,))


def _sentence(who: str, text: str) -> str:
    first = _FIRST_SENTENCE.match(text)
    sentence = (first[0] if first else text)[:_SENTENCE_LENGTH]
    return f"- {'Asked' if who == 'user' else 'Answered'}: {sentence}"


def provider_tools(context: ScenarioContext) -> ScriptedReply | None:
    """The provider's own tools, unless the text is the phrase of a declared function."""
    found = find_phrase(context.text)
    return None if found and found[0].function in context.functions else use_provider_tools(context)


SCENARIOS: tuple[Scenario, ...] = (
    *(summary, provider_tools, flight_and_taxi, weather, named_calls, spoken_tools, tool_report),
)
