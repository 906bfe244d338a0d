"""Why a file was not imported: a sentence for each ImportProblem, and what to do about it."""

from collections.abc import Mapping
from typing import Any

from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.import_codes import ExpectedValue, ImportFormat, ImportNote
from sessions_app.wording.sentences import fill

SENTENCES: dict[str, str] = {
    ImportProblem.NOT_JSON: "The file is not JSON, or damaged, at byte {byte:,}.",
    ImportProblem.UNKNOWN_FORMAT: (
        "The file is JSON, but neither a chat of Pipeweb nor a history of Gemini, AI Studio or OpenAI."
    ),
    ImportProblem.NO_MESSAGES: "The file holds no message.",
    ImportProblem.UNEXPECTED: "{where}: {expected_value}.",
    ImportProblem.TOO_DEEP: "More than {limit} lists and objects stand inside each other at byte {byte:,}.",
    ImportProblem.WRONG: "This is not a chat that Pipeweb can read: {where}: {problem}",
    ImportProblem.NOT_KEPT: "{where}: {problem}",
    ImportProblem.TOO_MANY: "{where} has more than {limit:,} entries.",
    ImportProblem.TOO_LARGE: "The file has {size} MB; at most {limit} MB can be imported.",
    ImportProblem.MISSING: "This is not a chat that Pipeweb can read: “{missing}” is missing.",
    ImportProblem.NEWER: "The file has version {version} of its format; this Pipeweb reads version {limit}.",
    ImportProblem.REPEATED_TURN: "{where}: the turn {turn} stands in the file before.",
    ImportProblem.UNKNOWN_PARENT: "{where}: the turn {turn} does not stand after its parent.",
    ImportProblem.UNKNOWN_HEAD: "session.head: {turn} is none of the turns.",
    ImportProblem.ROWS: "{where} cannot be kept.",
    ImportProblem.FILE_GONE: "The uploaded file is no longer on the server.",
    ImportProblem.INTERRUPTED: (
        "This import was interrupted {limit} times: the server stopped, or its database took nothing."
    ),
    ImportProblem.NOT_WRITTEN: "The database did not take the chat; nothing of it was kept.",
    ImportProblem.BROKEN: "Something went wrong on our side; nothing of the chat was kept.",
}

EXPORT_AGAIN = "Choose a JSON file from “Export as JSON”."
SAVE_AGAIN = (
    "Save it again where it comes from, as one JSON value in UTF-8: it may have come in part, been edited, "
    "or hold a value on each line (JSON Lines)."
)
A_PART = "Choose a file with a part of it; of a chat of Pipeweb, export a fork of one branch."
TRY_AGAIN = "Choose the file again."

OTHER_FORMATS = "A history needs its list of “contents”, “messages” or “chunkedPrompt.chunks”."
HTTP_ARCHIVE = (
    "An HTTP archive (HAR) is imported on the page “Capture”, which the view “Inspect” has in the menu."
)
CORRECT = "Correct the file there, then choose it again. Nothing of it was kept."

HINTS: dict[str, str] = {
    ImportProblem.NOT_JSON: SAVE_AGAIN,
    ImportProblem.UNKNOWN_FORMAT: f"{OTHER_FORMATS} {HTTP_ARCHIVE}",
    ImportProblem.NO_MESSAGES: OTHER_FORMATS,
    ImportProblem.UNEXPECTED: CORRECT,
    ImportProblem.TOO_DEEP: "Remove what is nested so deeply, then choose the file again.",
    ImportProblem.WRONG: EXPORT_AGAIN,
    ImportProblem.NOT_KEPT: CORRECT,
    ImportProblem.TOO_MANY: A_PART,
    ImportProblem.TOO_LARGE: A_PART,
    ImportProblem.MISSING: EXPORT_AGAIN,
    ImportProblem.NEWER: "A newer Pipeweb has written it: import it there, or update this one.",
    ImportProblem.REPEATED_TURN: EXPORT_AGAIN,
    ImportProblem.UNKNOWN_PARENT: EXPORT_AGAIN,
    ImportProblem.UNKNOWN_HEAD: EXPORT_AGAIN,
    ImportProblem.ROWS: EXPORT_AGAIN,
    ImportProblem.FILE_GONE: TRY_AGAIN,
    ImportProblem.INTERRUPTED: TRY_AGAIN,
    ImportProblem.NOT_WRITTEN: "Choose the file again later.",
    ImportProblem.BROKEN: "The details are in the server log. Choosing the file again is safe.",
}

EXPECTED: dict[str, str] = {
    ExpectedValue.OBJECT: "an object is expected here",
    ExpectedValue.LIST: "a list is expected here",
    ExpectedValue.TEXT: "text is expected here",
    ExpectedValue.PARTS: "a list of parts is expected here",
    ExpectedValue.ROLE: "this role is not known in this format",
    ExpectedValue.CALL: "a call needs a name, and arguments that are an object",
    ExpectedValue.ARGUMENTS: "the arguments of a call have to be a JSON object",
    ExpectedValue.RESPONSE: "a result needs the name of its call, and a response that is an object",
    ExpectedValue.BASE64: "the data of a file have to be base64",
}

FORMATS: dict[str, str] = {
    ImportFormat.UNKNOWN: "",
    ImportFormat.PIPEWEB: "",
    ImportFormat.GEMINI: "Recognised as contents of the Gemini API.",
    ImportFormat.AI_STUDIO: "Recognised as a prompt of Google AI Studio.",
    ImportFormat.OPENAI: "Recognised as messages of the OpenAI API.",
}

NOTES: dict[str, str] = {
    ImportNote.UNKNOWN: "",
    ImportNote.MODEL_REPLACED: "It was held with {model}, which is not known here, and goes on with {used}.",
    ImportNote.TOOLS_UNKNOWN: (
        "Tools that are not known here: {names} ({count}). Their calls and results stay in the history; "
        "the model cannot call them any more."
    ),
    ImportNote.CACHE_ABSENT: (
        "The request names a cache, {cache}, which is not in the file. Its instructions, its tools and a "
        "part of the history may be there."
    ),
    ImportNote.WITHOUT_SETTING: "Not imported, since a chat has no setting for it: {names} ({count}).",
    ImportNote.VALUES_REFUSED: (
        "Not imported, since the setting does not take such a value: {names} ({count})."
    ),
    ImportNote.SIGNATURES_FOREIGN: (
        "Thoughts whose origin is unknown: {count}. They are kept, and not sent; where the model "
        "demands one, the documented dummy stands in."
    ),
    ImportNote.SIGNATURES_UNREADABLE: "Thoughts in a form that cannot be sent back, left out: {count}.",
    ImportNote.CALLS_UNSIGNED: (
        "Steps of calls without the thought behind them: {count}. Where the model demands one, the "
        "documented dummy stands in."
    ),
    ImportNote.FILES_ABSENT: (
        "Files that are not in the file, but elsewhere: {count}. A line of text stands in the place of each."
    ),
    ImportNote.ENTRIES_EMPTY: "Entries that held nothing, left out: {count}.",
    ImportNote.SYSTEM_AS_MESSAGE: (
        "System messages in the midst of the conversation, kept as messages of the person: {count}."
    ),
    ImportNote.UNSENT: "Messages that were typed and not sent, left out: {count}.",
    ImportNote.HISTORY_BROKEN: (
        "Places at which the history breaks a rule of Gemini: {count}, the first at {where}. Each request "
        "mends them and says so, or is refused, as “Broken history” in the settings says."
    ),
}


def import_texts(reason: str, figures: Mapping[str, Any]) -> tuple[str, str]:
    """The sentence and the hint for an ImportProblem with its figures."""
    if expected := EXPECTED.get(figures.get("expected", "")):
        figures = {**figures, "expected_value": expected}
    return fill(SENTENCES.get(reason, reason), figures, otherwise=reason), HINTS.get(reason, "")


def recognised(format_: str) -> str:
    """What a history from elsewhere was recognised as; empty for a session of Pipeweb."""
    return FORMATS.get(format_, "")


def note_text(note: Mapping[str, Any]) -> str:
    """The sentence for an ImportNote with its figures."""
    code = str(note.get("code", ""))
    return fill(NOTES.get(code, code), note, otherwise=code)


def error_texts(error: NotImportable) -> tuple[str, str]:
    return import_texts(error.reason, error.figures)
