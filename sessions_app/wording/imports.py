"""Why a file was not imported: a sentence for each ImportProblem, and what to do about it."""

from collections.abc import Mapping
from typing import Any

from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.wording.sentences import fill

SENTENCES: dict[str, str] = {
    ImportProblem.NOT_JSON: "The file is not JSON, or damaged, at byte {byte:,}.",
    ImportProblem.TOO_DEEP: "More than {limit} lists and objects stand inside each other at byte {byte:,}.",
    ImportProblem.WRONG: "This is not a session that Pipeweb can read: {where}: {problem}",
    ImportProblem.TOO_MANY: "{where} has more than {limit:,} entries.",
    ImportProblem.TOO_LARGE: "The file has {size} MB; at most {limit} MB can be imported.",
    ImportProblem.MISSING: "This is not a session that Pipeweb can read: “{missing}” is missing.",
    ImportProblem.REPEATED_TURN: "{where}: the turn {turn} stands in the file before.",
    ImportProblem.UNKNOWN_PARENT: "{where}: the turn {turn} does not stand after its parent.",
    ImportProblem.UNKNOWN_HEAD: "session.head: {turn} is none of the turns.",
    ImportProblem.ROWS: "{where} cannot be kept.",
    ImportProblem.FILE_GONE: "The uploaded file is no longer on the server.",
    ImportProblem.INTERRUPTED: "The server stopped {limit} times while it imported this file.",
    ImportProblem.NOT_WRITTEN: "The database did not take the session; nothing of it was kept.",
    ImportProblem.BROKEN: "Something went wrong on our side; nothing of the session was kept.",
}

EXPORT_AGAIN = "Choose a JSON file from “Export as JSON”."
TRY_AGAIN = "Choose the file again."

HINTS: dict[str, str] = {
    ImportProblem.NOT_JSON: EXPORT_AGAIN,
    ImportProblem.TOO_DEEP: "Remove what is nested so deeply, then choose the file again.",
    ImportProblem.WRONG: EXPORT_AGAIN,
    ImportProblem.TOO_MANY: "Export a fork of one branch instead.",
    ImportProblem.TOO_LARGE: "Export a fork of one branch instead.",
    ImportProblem.MISSING: EXPORT_AGAIN,
    ImportProblem.REPEATED_TURN: EXPORT_AGAIN,
    ImportProblem.UNKNOWN_PARENT: EXPORT_AGAIN,
    ImportProblem.UNKNOWN_HEAD: EXPORT_AGAIN,
    ImportProblem.ROWS: EXPORT_AGAIN,
    ImportProblem.FILE_GONE: TRY_AGAIN,
    ImportProblem.INTERRUPTED: TRY_AGAIN,
    ImportProblem.NOT_WRITTEN: "Choose the file again later.",
    ImportProblem.BROKEN: "The details are in the server log. Choosing the file again is safe.",
}


def import_texts(reason: str, figures: Mapping[str, Any]) -> tuple[str, str]:
    """The sentence and the hint for an ImportProblem with its figures."""
    return fill(SENTENCES.get(reason, reason), figures, otherwise=reason), HINTS.get(reason, "")


def error_texts(error: NotImportable) -> tuple[str, str]:
    return import_texts(error.reason, error.figures)
