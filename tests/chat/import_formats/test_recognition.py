"""What a file is taken for, and what is said of one whose list is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.import_codes import ExpectedValue
from sessions_app.wording.imports import CORRECT, SAVE_AGAIN, error_texts
from tests.chat.import_formats.histories import checked

HELLO = {"role": "user", "parts": [{"text": "Hello"}]}


def refused(file: Any, folder: Path) -> NotImportable:
    with pytest.raises(NotImportable) as caught:
        checked(file, folder)
    return caught.value


@pytest.mark.parametrize(
    ("file", "where", "expected"),
    [
        ({"contents": "text"}, "contents", ExpectedValue.LIST),
        ({"contents": None}, "contents", ExpectedValue.LIST),
        ({"messages": 7}, "messages", ExpectedValue.LIST),
        ({"request": {"contents": "text"}, "response": {}}, "request.contents", ExpectedValue.LIST),
        ({"request": []}, "request", ExpectedValue.OBJECT),
        ({"chunkedPrompt": "text"}, "chunkedPrompt", ExpectedValue.OBJECT),
        ({"chunkedPrompt": {"chunks": "text"}}, "chunkedPrompt.chunks", ExpectedValue.LIST),
    ],
)
def test_what_is_no_list_of_messages_is_refused_with_its_path(
    tmp_path: Path, file: Any, where: str, expected: ExpectedValue
) -> None:
    error = refused(file, tmp_path)
    assert error.reason == ImportProblem.UNEXPECTED
    assert error.figures == {"where": where, "expected": expected}


@pytest.mark.parametrize(
    ("file", "where"),
    [
        ({"contents": [HELLO], "systemInstruction": {"parts": [{"text": "\0"}]}}, "system"),
        ({"contents": [HELLO, {"role": "user", "parts": [{"text": "\ud800"}]}]}, "contents[1]"),
    ],
)
def test_what_cannot_be_kept_of_a_history_is_corrected_where_it_comes_from(
    tmp_path: Path, file: Any, where: str
) -> None:
    error = refused(file, tmp_path)
    assert (error.reason, error.figures["where"]) == (ImportProblem.NOT_KEPT, where)
    assert error_texts(error)[1] == CORRECT


def test_a_nul_in_the_first_words_is_not_in_the_title(tmp_path: Path) -> None:
    found, turns = checked([{"role": "user", "parts": [{"text": "He\0llo"}]}], tmp_path)
    assert found.session.title == "Hello" and b"\\u0000" in turns[0].wire


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"null", ImportProblem.UNKNOWN_FORMAT),
        (b"123", ImportProblem.UNKNOWN_FORMAT),
        (b'"contents"', ImportProblem.UNKNOWN_FORMAT),
        (b"nul", ImportProblem.NOT_JSON),
        (b"null null", ImportProblem.NOT_JSON),
        (b"\xef\xbb\xbf", ImportProblem.NOT_JSON),
        (b"", ImportProblem.NOT_JSON),
    ],
)
def test_a_single_value_is_json_but_no_history(tmp_path: Path, body: bytes, reason: ImportProblem) -> None:
    assert refused(body, tmp_path).reason == reason


@pytest.mark.parametrize(
    ("body", "byte"),
    [
        (b'{"contents": [{"role": "user", "parts": [', 41),
        (b'{"con\\qtents": []}', 1),
        (b'[{"role": "user", "parts": [{"text": "\xff"}]}]', 38),
        ('{"contents": []}'.encode("utf-16"), 2),
    ],
)
def test_a_damaged_file_is_saved_again_where_it_comes_from(tmp_path: Path, body: bytes, byte: int) -> None:
    """Nothing tells whose it is."""
    error = refused(body, tmp_path)
    assert (error.reason, error.figures) == (ImportProblem.NOT_JSON, {"byte": byte})
    assert error_texts(error)[1] == SAVE_AGAIN


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    found, _ = checked(b"\xef\xbb\xbf" + json.dumps([HELLO]).encode(), tmp_path)
    assert found.session.title == "Hello"
