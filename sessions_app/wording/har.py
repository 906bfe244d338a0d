"""The import of an HTTP archive: why it failed, what was recorded, what was not and why."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sessions_app.error_codes import HarProblem

PROBLEMS = {
    HarProblem.NOT_JSON: "The file is no HTTP archive: it is not JSON, or damaged ({problem}).",
    HarProblem.WRONG: "The file is no HTTP archive that can be read: {where}: {problem}.",
    HarProblem.BASE64: "The file is no HTTP archive that can be read: {where} is no base64.",
    HarProblem.TOO_LARGE: "The file is too large: at most {limit} MB can be imported.",
    HarProblem.TOO_MANY: "The file has {requests:,} requests to the Gemini API; at most {limit:,} are "
    "imported at once. Export fewer of them at a time.",
    HarProblem.NOTHING: "Nothing was imported: of {counted} in the file none can be recorded as one to the "
    "Gemini API.",
    HarProblem.KNOWN: "This file was imported on {on}, and the list has {counted} of it. To import it again, "
    "delete there what it brought.",
    HarProblem.UNDER_WAY: "This file is being imported already.",
}

IGNORED = {
    "other_address": "{count:,} to other addresses than the Gemini API",
    "method": "{count:,} with a method that the API does not have, such as OPTIONS",
    "no_body": "{count:,} whose request body is not in the file",
}
"""By the value of `capture.har_reading.Ignored`."""

SUMS = {
    "recorded": "Recorded {requests} in {sessions}.",
    "alone": "Recorded {requests}; none asks the model.",
    "ignored": "Left out: {reasons}.",
    "no_room": "{requests} could not be kept: there is no storage left.",
}
REQUESTS = {"one": "1 request", "many": "{count:,} requests"}
SESSIONS = {"one": "1 session", "many": "{count:,} sessions"}


def problem(reason: HarProblem, figures: Mapping[str, Any]) -> str:
    """A moment among the figures is told as its own zone has it."""
    on = datetime.fromisoformat(figures["at"]).strftime("%-d %b %Y, %H:%M") if "at" in figures else ""
    counted = _plural(REQUESTS, figures.get("requests", figures.get("entries", 0)))
    return PROBLEMS[reason].format_map({**figures, "on": on, "counted": counted})


def summary(requests: int, sessions: int, no_room: int, ignored: Mapping[Any, int]) -> list[str]:
    counted, groups = _plural(REQUESTS, requests), _plural(SESSIONS, sessions)
    found = [SUMS["recorded" if sessions else "alone"].format(requests=counted, sessions=groups)]
    reasons = [text.format(count=ignored[key]) for key, text in IGNORED.items() if ignored.get(key)]
    if reasons:
        found.append(SUMS["ignored"].format(reasons="; ".join(reasons)))
    if no_room:
        found.append(SUMS["no_room"].format(requests=_plural(REQUESTS, no_room)))
    return found


def _plural(forms: Mapping[str, str], count: int) -> str:
    return forms["one" if count == 1 else "many"].format(count=count)
