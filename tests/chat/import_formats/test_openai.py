"""Messages of OpenAI: what each kind becomes, and what is refused where."""

from pathlib import Path
from time import process_time
from typing import Any

import orjson
import pytest

from sessions_app.errors import NotImportable
from sessions_app.import_codes import ExpectedValue, ImportFormat, ImportNote
from sessions_app.prompt.turns import TurnKind
from tests.chat.import_formats.histories import checked, codes

PIXEL = "data:image/png;base64,iVBORw0KGgo="
USER = {"role": "user", "content": "Is AA100 late?"}


def called(arguments: Any, **beside: Any) -> dict[str, Any]:
    function = {"name": "check_flight", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": function, **beside}],
    }


def parts_of(turns: Any) -> list[list[dict[str, Any]]]:
    return [orjson.loads(turn.wire)["parts"] for turn in turns]


def test_the_body_of_a_chat_completion_becomes_a_session(tmp_path: Path) -> None:
    body = {
        "model": "gpt-4o",
        "temperature": 0.2,
        "top_p": 0.5,
        "tools": [{"type": "function", "function": {"name": "fly_to_the_moon"}}],
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            USER,
            called('{"flight": "AA100"}'),
            {"role": "tool", "tool_call_id": "c1", "content": "delayed"},
            {"role": "assistant", "content": "Yes."},
        ],
    }
    found, turns = checked(body, tmp_path)
    assert found.format is ImportFormat.OPENAI and found.session.purpose == "Be brief."
    assert found.session.settings == {"temperature": 0.2, "top_p": 0.5}
    assert codes(found) == {
        ImportNote.MODEL_REPLACED: "gpt-4o",
        ImportNote.TOOLS_UNKNOWN: 1,
        ImportNote.CALLS_UNSIGNED: 1,
    }
    assert [turn.kind for turn in turns] == [
        TurnKind.USER_TASK,
        TurnKind.FUNCTION_CALLING,
        TurnKind.TOOL_RESPONSE,
        TurnKind.MODEL_RESPONSE,
    ]
    call = {"id": "c1", "name": "check_flight", "args": {"flight": "AA100"}}
    result = {"id": "c1", "name": "check_flight", "response": {"result": "delayed"}}
    assert parts_of(turns)[1:3] == [[{"functionCall": call}], [{"functionResponse": result}]]


def test_files_in_messages_are_files_of_the_turn(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": PIXEL}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    found, turns = checked([{"role": "user", "content": content}], tmp_path)
    text, image, audio, *absent = parts_of(turns)[0]
    assert text == {"text": "Look"} and image["inlineData"] == {
        "mimeType": "image/png",
        "data": "iVBORw0KGgo=",
    }
    assert audio["inlineData"]["mimeType"] == "audio/wav"
    assert [list(part) for part in absent] == [["text"], ["text"]]
    assert codes(found) == {ImportNote.FILES_ABSENT: 2}


def test_texts_of_a_message_are_paragraphs(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": "https://a.test/"}},
    ]
    _, turns = checked([{"role": "user", "content": content}], tmp_path)
    ((first, second),) = parts_of(turns)
    assert first["text"] == "Look." and second["text"].startswith("\n\n[")


def test_results_without_ids_follow_the_calls_by_name_and_order(tmp_path: Path) -> None:
    calls = [{"function": {"name": name, "arguments": ""}} for name in ("a", "b", "a")]
    results = [
        {"role": "tool", "name": name, "content": text} for name, text in (("b", "2"), ("a", "1"), ("a", "3"))
    ]
    found, turns = checked([USER, {"role": "assistant", "tool_calls": calls}, *results], tmp_path)
    given = [part["functionResponse"] for part in parts_of(turns)[2]]
    assert [(one["name"], one["response"]["result"]) for one in given] == [("a", 1), ("b", 2), ("a", 3)]
    assert ImportNote.HISTORY_BROKEN not in codes(found)


def test_the_older_form_of_calls_is_read(tmp_path: Path) -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    result = {"role": "function", "name": "f", "content": '{"a": 1}'}
    found, turns = checked([USER, old, result], tmp_path)
    assert parts_of(turns)[2][0]["functionResponse"]["response"] == {"a": 1}
    assert ImportNote.HISTORY_BROKEN not in codes(found)


def test_signatures_of_the_compatible_route_are_kept(tmp_path: Path) -> None:
    extra = {"google": {"thought_signature": "AQIDBAUGBwg="}}
    found, turns = checked([USER, called("{}", extra_content=extra)], tmp_path)
    assert parts_of(turns)[1][0]["thoughtSignature"] == "AQIDBAUGBwg="
    assert codes(found)[ImportNote.SIGNATURES_FOREIGN] == 1


def test_a_later_system_message_is_a_message_and_told(tmp_path: Path) -> None:
    late = {"role": "system", "content": "Answer in French."}
    found, turns = checked([USER, {"role": "assistant", "content": "No."}, late], tmp_path)
    assert turns[-1].kind is TurnKind.USER_TASK and codes(found) == {ImportNote.SYSTEM_AS_MESSAGE: 1}


def test_a_request_with_its_response_ends_in_the_answer(tmp_path: Path) -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}]}
    _, turns = checked({"request": {"messages": [USER]}, "response": answer}, tmp_path)
    assert parts_of(turns)[-1] == [{"text": "Yes."}]


@pytest.mark.parametrize(
    ("message", "where", "expected"),
    [
        (7, "messages[1]", ExpectedValue.OBJECT),
        ({"role": "alien", "content": "a"}, "messages[1].role", ExpectedValue.ROLE),
        ({"role": "user", "content": 7}, "messages[1].content", ExpectedValue.TEXT),
        (called("{"), "messages[1].tool_calls[0].function.arguments", ExpectedValue.ARGUMENTS),
        (called("[]"), "messages[1].tool_calls[0].function.arguments", ExpectedValue.ARGUMENTS),
        (called("[" * 500), "messages[1].tool_calls[0].function.arguments", ExpectedValue.ARGUMENTS),
        ({"role": "assistant", "tool_calls": [{}]}, "messages[1].tool_calls[0].function", ExpectedValue.CALL),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:a/b;base64,?"}}]},
            "messages[1].content[0].image_url.url",
            ExpectedValue.BASE64,
        ),
    ],
)
def test_what_is_no_message_is_refused_with_its_path(
    tmp_path: Path, message: Any, where: str, expected: ExpectedValue
) -> None:
    with pytest.raises(NotImportable) as caught:
        checked({"messages": [USER, message]}, tmp_path)
    assert caught.value.figures == {"where": where, "expected": expected}


def test_the_results_of_many_calls_are_found_at_once(tmp_path: Path) -> None:
    """Ids repeat; names and ids are left out."""
    count = 12_000
    function = {"name": "check_flight", "arguments": ""}
    calls = [{"id": f"c{number % 5_000}", "function": function} for number in range(count)]
    results: list[Any] = [
        {"role": "tool", "tool_call_id": f"c{number % 5_000}", "content": str(number)}
        if number % 3
        else {"role": "tool", "content": str(number)}
        for number in range(count)
    ]
    began = process_time()
    _, turns = checked([USER, {"role": "assistant", "tool_calls": calls}, *results], tmp_path)
    assert [len(parts) for parts in parts_of(turns)] == [1, count, count]
    assert process_time() - began < 10
