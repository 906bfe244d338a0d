"""Prompts that AI Studio has saved."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions_app.errors import NotImportable
from sessions_app.import_codes import ImportFormat, ImportNote
from tests.chat.import_formats.histories import checked, codes

SIGNATURE = "AQIDBAUGBwg="


def prompt(*chunks: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {
        "runSettings": {
            "model": "models/gemini-2.5-pro",
            "temperature": 1.0,
            "topP": 0.95,
            "thinkingBudget": -1,
            "enableCodeExecution": False,
        },
        "systemInstruction": {"text": "Be brief."},
        "chunkedPrompt": {"chunks": list(chunks), "pendingInputs": [{"text": "", "role": "user"}]},
        **beside,
    }


def parts_of(turns: Any) -> list[list[dict[str, Any]]]:
    return [orjson.loads(turn.wire)["parts"] for turn in turns]


def test_chunks_of_one_side_are_one_content(tmp_path: Path) -> None:
    found, turns = checked(
        prompt(
            {"role": "user", "inlineImage": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            {"role": "user", "text": "What is it?", "tokenCount": 4},
            {"role": "model", "text": "A picture…", "isThought": True, "tokenCount": 9},
            {
                "role": "model",
                "text": "A cat.",
                "finishReason": "STOP",
                "parts": [{"text": "A "}, {"text": "cat.", "thoughtSignature": SIGNATURE}],
            },
        ),
        tmp_path,
    )
    assert found.format is ImportFormat.AI_STUDIO and found.session.model == "gemini-2.5-pro"
    assert found.session.purpose == "Be brief."
    assert found.session.settings == {"temperature": 1.0, "top_p": 0.95, "thinking_budget": -1}
    (picture, question), (thought, *answer) = parts_of(turns)
    assert picture["inlineData"]["mimeType"] == "image/png" and question == {"text": "What is it?"}
    assert thought == {"text": "A picture…", "thought": True}
    assert answer == [{"text": "A "}, {"text": "cat.", "thoughtSignature": SIGNATURE}]


def test_messages_of_a_person_that_follow_each_other_are_paragraphs(tmp_path: Path) -> None:
    away = {"role": "user", "driveDocument": {"id": "1Xabc"}}
    said = ({"role": "user", "text": "Refused?"}, {"role": "user", "text": "Again."})
    _, turns = checked(
        prompt(away, *said, *({"role": "model", "text": text} for text in ("Ye", "s"))), tmp_path
    )
    person, model = parts_of(turns)
    assert [part["text"] for part in person[1:]] == ["\n\nRefused?", "\n\nAgain."]
    assert [part["text"] for part in model] == ["Ye", "s"]


def test_signatures_beside_the_text_stand_on_it(tmp_path: Path) -> None:
    model = {"role": "model", "text": "Yes.", "thoughtSignatures": [SIGNATURE]}
    found, turns = checked(prompt({"role": "user", "text": "Late?"}, model), tmp_path)
    assert parts_of(turns)[1] == [{"text": "Yes.", "thoughtSignature": SIGNATURE}]
    assert codes(found) == {ImportNote.SIGNATURES_FOREIGN: 1}


def test_what_lies_on_a_drive_or_was_not_sent_is_told(tmp_path: Path) -> None:
    file = prompt({"role": "user", "driveDocument": {"id": "1abc"}}, {"role": "user", "text": "Read it."})
    file["chunkedPrompt"]["pendingInputs"] = [{"text": "Half a message", "role": "user"}]
    found, turns = checked(file, tmp_path)
    assert codes(found) == {ImportNote.FILES_ABSENT: 1, ImportNote.UNSENT: 1}
    assert "1abc" in parts_of(turns)[0][0]["text"]


def test_code_and_its_result_are_parts_of_the_answer(tmp_path: Path) -> None:
    code = {"role": "model", "executableCode": {"language": "PYTHON", "code": "print(1)"}, "text": ""}
    result = {"role": "model", "codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    failed = {"role": "model", "text": "", "errorMessage": "An internal error has occurred."}
    found, turns = checked(prompt({"text": "Count"}, code, result, failed), tmp_path)
    assert [list(part) for part in parts_of(turns)[1]] == [["executableCode"], ["codeExecutionResult"]]
    assert codes(found) == {ImportNote.ENTRIES_EMPTY: 1}


def test_a_bare_list_of_chunks_is_recognised(tmp_path: Path) -> None:
    found, turns = checked([{"role": "user", "text": "Hello"}, {"role": "model", "text": "Hi."}], tmp_path)
    assert found.format is ImportFormat.AI_STUDIO and len(turns) == 2


@pytest.mark.parametrize(
    ("chunk", "where"),
    [
        ({"role": "user", "text": 1}, "chunkedPrompt.chunks[0].text"),
        ({"role": "nobody", "text": "a"}, "chunkedPrompt.chunks[0].role"),
        ({"inlineImage": {"data": "?"}}, "chunkedPrompt.chunks[0].inlineImage"),
        ({"parts": [{"text": "a"}, []]}, "chunkedPrompt.chunks[0].parts[1]"),
        ({"text": "a", "thoughtSignatures": "b"}, "chunkedPrompt.chunks[0].thoughtSignatures"),
    ],
)
def test_a_damaged_chunk_is_refused_with_its_path(tmp_path: Path, chunk: dict[str, Any], where: str) -> None:
    with pytest.raises(NotImportable) as caught:
        checked(prompt(chunk), tmp_path)
    assert caught.value.figures["where"] == where
