"""Anthropic: the oracles of the reference, B4 and B5, that are this provider's own."""

from typing import Any

import pytest

from sessions_app.prompt.renditions import anthropic
from sessions_app.prompt.turns import Turn, user_task
from sessions_app.prompt.wire import dumps
from tests.prompt.examples import answer, answers, call, calling, content, text
from tests.prompt.renditions.examples import EMPTY, STATIC, original

HELLO = user_task("1", "Hello")


def blocks(rendered: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for message in rendered["messages"] for block in message["content"]]


def marked(rendered: dict[str, Any]) -> list[str]:
    return [block["tool_use_id"] for block in blocks(rendered) if "cache_control" in block]


@pytest.mark.parametrize(
    ("count", "marks"),
    [(0, []), (1, [0]), (2, [0, 1]), (4, [0, 1, 2, 3]), (5, [1, 2, 3, 4]), (10, [2, 4, 7, 9])],
)
def test_cache_marks_stand_at_the_quarters(count: int, marks: list[int]) -> None:
    assert anthropic.breakpoints(count) == marks


@pytest.mark.parametrize("count", range(1, 12))
def test_the_marks_are_on_panel_results_never_more_than_four_and_the_last_panel_has_one(count: int) -> None:
    panels = tuple(f'\n"p{n}": "x",' for n in range(count))
    found = marked(anthropic.render(original(panels=panels)))
    assert found == [f"panel_p{at}" for at in anthropic.breakpoints(count)]
    assert len(found) <= 4 and found[-1] == f"panel_p{count - 1}"


def test_without_panels_the_system_prompt_is_marked() -> None:
    rendered = anthropic.render(original(HELLO, panels=(EMPTY,)))
    assert rendered["system"] == [{"type": "text", "text": STATIC, "cache_control": {"type": "ephemeral"}}]
    assert not marked(rendered)


def declared(*turns: Turn, **more: Any) -> list[str]:
    return [tool["name"] for tool in anthropic.render(original(*turns, **more)).get("tools", ())]


def test_every_tool_that_is_called_is_declared() -> None:
    earlier = (HELLO, calling("2", call("gone")), answers("3", "gone"))
    assert declared() == ["check_flight", "dynamic_panel"]
    assert declared(*earlier) == ["check_flight", "dynamic_panel", "gone"]
    assert declared(*earlier, panels=()) == ["check_flight", "gone"]


def test_it_is_a_stream() -> None:
    assert anthropic.render(original())["stream"] is True


def test_the_first_message_is_the_users_and_the_last_one_too() -> None:
    roles = [message["role"] for message in anthropic.render(original())["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]


def test_a_limit_is_always_given() -> None:
    assert anthropic.render(original())["max_tokens"] == 128_000
    assert "temperature" not in anthropic.render(original())


def test_no_signature_is_left() -> None:
    assert b"ignature" not in dumps(anthropic.render(original()))


def test_a_blank_text_is_no_block_and_roles_still_alternate() -> None:
    turns = (HELLO, answer("2", " ", signature="QUJD"), user_task("3", "Again"))
    rendered = anthropic.render(original(*turns, panels=()))
    assert [block["text"] for block in blocks(rendered)] == ["Hello", "Again"]
    assert len(rendered["messages"]) == 1


def test_a_failed_tool_is_an_error() -> None:
    failed = {"functionResponse": {"name": "f", "response": {"error": "no"}}}
    turns = (HELLO, calling("2", call("f")), calling("3", failed))
    found = anthropic.render(original(*turns))["messages"][-1]["content"][-1]
    assert found["is_error"] is True and found["content"] == '{"error":"no"}'


def test_pictures_and_documents_are_blocks_of_their_own() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "QQ=="}}
    paper = {"fileData": {"mimeType": "application/pdf", "fileUri": "https://files.example/1"}}
    turn = user_task("1", "")
    turn = type(turn)(turn.key, turn.kind, content("user", text("Look"), picture, paper))
    *_, first, second = blocks(anthropic.render(original(turn)))
    assert first["source"] == {"type": "base64", "media_type": "image/png", "data": "QQ=="}
    assert (second["type"], second["source"]["url"]) == ("document", "https://files.example/1")


def shown(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    turn = user_task("1", "")
    turn = type(turn)(turn.key, turn.kind, content("user", *parts))
    return blocks(anthropic.render(original(turn, panels=())))


@pytest.mark.parametrize(
    "mime", ["image/heic", "image/svg+xml", "audio/wav", "video/mp4", "text/html", "application/zip", ""]
)
def test_a_file_of_another_type_is_named_in_a_text(mime: str) -> None:
    inline = {"inlineData": {"mimeType": mime, "data": "QQ=="}}
    for part in (inline, {"fileData": {"mimeType": mime, "fileUri": "https://files.example/1"}}):
        (block,) = shown(part)
        assert block["type"] == "text" and (mime or "unknown type") in block["text"]


def test_a_plain_text_is_a_document_of_text() -> None:
    (block,) = shown({"inlineData": {"mimeType": "text/plain", "data": "SGk="}})
    assert block["source"] == {"type": "text", "media_type": "text/plain", "data": "Hi"}


@pytest.mark.parametrize("data", ["!!", "/w==", ""])
def test_a_plain_text_that_is_none_is_named_in_a_text(data: str) -> None:
    kinds = [
        one["type"] for one in shown(text("x"), {"inlineData": {"mimeType": "text/plain", "data": data}})
    ]
    assert kinds == ["text", "text"]
