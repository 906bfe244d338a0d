"""Gemini's contents: what each form of the file becomes, and what is refused where."""

import base64
from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.import_codes import ExpectedValue, ImportFormat, ImportNote
from sessions_app.prompt.turns import IMPORTED, TurnKind
from sessions_app.wording.imports import error_texts, note_text, recognised
from tests.chat.import_formats.histories import checked, codes

HELLO = {"role": "user", "parts": [{"text": "Hello"}]}
HI = {"role": "model", "parts": [{"text": "Hi."}]}


def test_the_body_of_a_request_becomes_a_session(tmp_path: Path) -> None:
    body = {
        "systemInstruction": {"parts": [{"text": "Be {{ brief }}."}]},
        "tools": [{"functionDeclarations": [{"name": "add_todo"}, {"name": "fly"}]}, {"googleSearch": {}}],
        "generationConfig": {"temperature": 0.5, "topP": 0.9, "thinkingConfig": {"thinkingLevel": "low"}},
        "contents": [HELLO, HI],
    }
    found, turns = checked(body, tmp_path)
    assert found.format is ImportFormat.GEMINI and recognised(found.format)
    assert found.session.purpose == "{% raw %}Be {{ brief }}.{% endraw %}"
    assert found.session.settings == {
        "temperature": 0.5,
        "thinking_level": "LOW",
        "top_p": 0.9,
        "provider_tools": ["google_search"],
    }
    assert codes(found) == {ImportNote.TOOLS_UNKNOWN: 1}
    assert [(turn.kind, turn.route) for turn in turns] == [
        (TurnKind.USER_TASK, ""),
        (TurnKind.MODEL_RESPONSE, IMPORTED),
    ]
    assert found.session.title == "Hello" and all(map(note_text, found.notes))


def test_declared_tools_that_are_not_known_are_named(tmp_path: Path) -> None:
    body = {"contents": HELLO, "tools": [{"function_declarations": [{"name": "fly_to_the_moon"}]}]}
    found, turns = checked(body, tmp_path)
    assert found.notes[0]["names"] == ["fly_to_the_moon"] and len(turns) == 1
    assert "fly_to_the_moon" in note_text(found.notes[0])


def test_a_request_with_its_streamed_response_ends_in_the_answer(tmp_path: Path) -> None:
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}], "modelVersion": "m"}
        for text in ("It is ", "late.")
    ]
    found, turns = checked({"request": {"contents": [HELLO]}, "response": chunks}, tmp_path)
    assert orjson.loads(turns[-1].wire) == {"role": "model", "parts": [{"text": "It is late."}]}
    assert [entry.read().status for entry in found.runs()] == ["completed"]


def test_signatures_keep_their_bytes_in_the_standard_alphabet(tmp_path: Path) -> None:
    raw = b"\xfb\xef\xff" * 20
    part = {"text": "Hi.", "thought_signature": base64.urlsafe_b64encode(raw).decode().rstrip("=")}
    _, turns = checked([HELLO, {"role": "model", "parts": [part]}], tmp_path)
    kept = orjson.loads(turns[1].wire)["parts"][0]
    assert kept == {"text": "Hi.", "thoughtSignature": base64.b64encode(raw).decode()}


def test_a_placeholder_in_the_place_of_a_signature_is_left_out_and_told(tmp_path: Path) -> None:
    part = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "<Signature A>"}
    found, turns = checked([HELLO, {"role": "model", "parts": [part]}], tmp_path)
    assert codes(found) == {
        ImportNote.SIGNATURES_UNREADABLE: 1,
        ImportNote.CALLS_UNSIGNED: 1,
        ImportNote.HISTORY_BROKEN: 1,
    }
    assert b"Signature" not in turns[1].wire


def test_a_file_of_another_key_is_a_line_of_text(tmp_path: Path) -> None:
    uri = "https://generativelanguage.googleapis.com/v1beta/files/abc-123"
    pictures = [
        {"fileData": {"mimeType": "image/png", "fileUri": uri}},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
    ]
    found, turns = checked([{"role": "user", "parts": pictures}], tmp_path)
    text, picture = orjson.loads(turns[0].wire)["parts"]
    assert "abc-123" in text["text"] and picture == pictures[1]
    assert codes(found) == {ImportNote.FILES_ABSENT: 1}


def test_empty_contents_are_left_out_and_told(tmp_path: Path) -> None:
    found, turns = checked(
        [HELLO, {"role": "model", "parts": []}, {"role": "model", "parts": [{}]}], tmp_path
    )
    assert len(turns) == 1 and codes(found) == {ImportNote.ENTRIES_EMPTY: 2}


def test_a_broken_history_is_imported_and_the_first_place_named(tmp_path: Path) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    found, turns = checked([HELLO, HI, call, HELLO], tmp_path)
    broken = next(note for note in found.notes if note["code"] == ImportNote.HISTORY_BROKEN)
    assert len(turns) == 4 and broken["where"] == "[2]" and "[2]" in note_text(broken)


@pytest.mark.parametrize(
    ("contents", "where", "expected"),
    [
        (["Hello"], "contents[0]", ExpectedValue.OBJECT),
        ([HELLO, {"role": "narrator", "parts": []}], "contents[1].role", ExpectedValue.ROLE),
        ([{"role": "user", "parts": "Hello"}], "contents[0].parts", ExpectedValue.PARTS),
        (
            [HELLO, {"role": "user", "parts": [{"text": "a"}, 7]}],
            "contents[1].parts[1]",
            ExpectedValue.OBJECT,
        ),
        ([{"parts": [{"text": 7}]}], "contents[0].parts[0].text", ExpectedValue.TEXT),
        ([{"role": "model", "parts": [{"functionCall": {}}]}], "contents[0].parts[0]", ExpectedValue.CALL),
        (
            [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": "{}"}}]}],
            "contents[0].parts[0]",
            ExpectedValue.CALL,
        ),
        (
            [{"parts": [{"functionResponse": {"name": "f", "response": "late"}}]}],
            "contents[0].parts[0]",
            ExpectedValue.RESPONSE,
        ),
        (
            [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "no!"}}]}],
            "contents[0].parts[0]",
            ExpectedValue.BASE64,
        ),
    ],
)
def test_what_no_request_could_hold_is_refused_with_its_path(
    tmp_path: Path, contents: Any, where: str, expected: ExpectedValue
) -> None:
    with pytest.raises(NotImportable) as caught:
        checked({"contents": contents}, tmp_path)
    assert caught.value.reason == ImportProblem.UNEXPECTED
    assert caught.value.figures == {"where": where, "expected": expected}
    assert where in error_texts(caught.value)[0]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ([], ImportProblem.NO_MESSAGES),
        ({"contents": []}, ImportProblem.NO_MESSAGES),
        ({"contents": [{"role": "user", "parts": []}]}, ImportProblem.NO_MESSAGES),
        ([{"colour": "red"}], ImportProblem.UNKNOWN_FORMAT),
        ({"colour": "red"}, ImportProblem.UNKNOWN_FORMAT),
        ({"request": {"colour": "red"}, "response": {}}, ImportProblem.UNKNOWN_FORMAT),
    ],
)
def test_a_file_that_is_no_history_is_refused(tmp_path: Path, file: Any, reason: ImportProblem) -> None:
    with pytest.raises(NotImportable) as caught:
        checked(file, tmp_path)
    assert caught.value.reason == reason and all(error_texts(caught.value))
