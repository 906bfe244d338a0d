"""Nothing of a turn is left out of a rendition silently."""

from typing import Any

import pytest

from sessions_app.prompt.dialects.messages import MediaBlock, Message, TextBlock, messages_of
from sessions_app.prompt.renditions.stand_ins import files_as_text, media_text, part_text, tools_for
from tests.prompt.examples import call, content, text
from tests.prompt.renditions.examples import FLIGHT

PICTURE = {"inlineData": {"mimeType": "image/png", "data": "QQ=="}}


@pytest.mark.parametrize(
    ("part", "held"),
    [
        ({"executableCode": {"language": "PYTHON", "code": "1+1"}}, "```python\n1+1\n```"),
        ({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}, "OUTCOME_OK]\n2"),
        ({"toolCall": {"toolType": "GOOGLE_SEARCH"}}, "tool_call"),
        ({"mood": 1, "weather": 2, "thoughtSignature": "QQ=="}, "mood, weather"),
        ({"inlineData": {"mimeType": "image/png"}}, "inline_data"),
    ],
)
def test_a_part_without_a_block_is_a_text(part: dict[str, Any], held: str) -> None:
    (message,) = messages_of([content("model", part)], part_text)
    assert isinstance(message.blocks[0], TextBlock) and held in message.blocks[0].text


@pytest.mark.parametrize("part", [text(""), text("Hm", thought=True), {"thought": True}, {}])
def test_a_part_that_holds_nothing_is_left_out(part: dict[str, Any]) -> None:
    assert messages_of([content("model", part)], part_text) == []


def test_the_dialect_that_is_sent_leaves_them_out_as_before() -> None:
    assert messages_of([content("model", {"mood": 1})]) == []


def test_files_beside_a_tool_response_are_named_in_its_result() -> None:
    response = {"functionResponse": {"name": "f", "response": {}, "parts": [PICTURE]}}
    *_, answered = messages_of([content("model", call("f")), content("user", response)], part_text)
    assert answered.answers[0].content.startswith("{}\n[") and "inline_data" in answered.answers[0].content


def test_a_file_that_the_model_made_is_named_in_a_text() -> None:
    told = files_as_text(messages_of([content("model", PICTURE), content("user", PICTURE)]))
    assert [type(block) for one in told for block in one.blocks] == [TextBlock, MediaBlock]


@pytest.mark.parametrize(
    ("data", "size"), [("QQ==", ", 1 bytes"), ("QUI", ", 2 bytes"), ("A" * 8000, ", 6,000 bytes"), ("", "")]
)
def test_a_file_is_named_with_its_size_where_it_is_there(data: str, size: str) -> None:
    assert media_text(MediaBlock("audio/wav", data)).endswith(f": audio/wav{size}]")
    assert media_text(MediaBlock("", data)).endswith(f": of unknown type{size}]")


def test_declared_tools_stay_as_they_are() -> None:
    tools = [{"functionDeclarations": [FLIGHT]}]
    assert tools_for(messages_of([content("model", call("check_flight"))]), tools) == tools
    assert tools_for([Message("user", (TextBlock("Hi"),))], []) == []
