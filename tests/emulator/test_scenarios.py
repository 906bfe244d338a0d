from typing import Any

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.scenarios import PHRASES, find_phrase, taxi_time
from sessions_app.emulator.signer import DUMMY_WORDS
from tests.emulator.helpers import answers, call, declare, generate, model, parts, text_of, user

TOOLS = declare(
    current_time=["timezone"],
    add_todo=["title"],
    complete_todo=["position"],
    list_todos=[],
    calculate=["expression"],
    read_file=["path"],
    write_artifact=["path", "text"],
)


@pytest.mark.parametrize(
    ("text", "name", "args"),
    [
        ("What time is it?", "current_time", {}),
        ("please add a todo: water the plants", "add_todo", {"title": "water the plants"}),
        ("complete todo 2", "complete_todo", {"position": 2}),
        ("List my todos", "list_todos", {}),
        ("todos", "list_todos", {}),
        ("calculate 2*(3+4) =", "calculate", {"expression": "2*(3+4)"}),
        ("read docs/notes.md", "read_file", {"path": "docs/notes.md"}),
        ("write a.md: one\ntwo", "write_artifact", {"path": "a.md", "text": "one\ntwo"}),
    ],
)
def test_a_phrase_calls_its_function(emulator: Emulator, text: str, name: str, args: dict[str, Any]) -> None:
    (part,) = parts(generate(emulator, {"contents": [user("static", "{}"), user(text)], "tools": TOOLS}))
    assert (part["functionCall"]["name"], part["functionCall"]["args"]) == (name, args)


def test_every_example_of_the_table_is_its_own_cue() -> None:
    found = [find_phrase(phrase.example) for phrase in PHRASES]
    assert [match[0].function for match in found if match] == [phrase.function for phrase in PHRASES]


def test_argument_names_come_from_the_declaration(emulator: Emulator) -> None:
    body = {"contents": [user("add a todo: rest")], "tools": declare(add_todo=["was_soll_ich_tun"])}
    (part,) = parts(generate(emulator, body))
    assert part["functionCall"]["args"] == {"was_soll_ich_tun": "rest"}


def test_a_function_that_is_not_declared_is_not_called(emulator: Emulator) -> None:
    text = text_of([generate(emulator, {"contents": [user("add a todo: rest")]})])
    assert "`add_todo`" in text and "Allowed: none" in text


def test_an_undeclared_flight_names_what_is_missing(emulator: Emulator) -> None:
    ask = user("Check flight status for AA100 and book a taxi if delayed")
    text = text_of([generate(emulator, {"contents": [ask], "tools": declare(check_flight=["flight"])})])
    assert "I would call `book_taxi`" in text


def test_the_answers_of_tools_are_told(emulator: Emulator) -> None:
    ask = user("list my todos")
    asked = model(*parts(generate(emulator, {"contents": [ask], "tools": TOOLS})))
    done = answers(("list_todos", {"todos": [{"position": 1, "title": "rest", "done": False}]}))
    text = text_of([generate(emulator, {"contents": [ask, asked, done], "tools": TOOLS})])
    assert "`list_todos` answered: todos (position **1**; title rest; done no)" in text


def test_a_failed_tool_is_told_as_a_failure(emulator: Emulator) -> None:
    assert told(emulator, ("f", {"error": "No such file.", "hint": "List them."})) == (
        "`f` did not work: No such file. List them."
    )


def test_several_answers_are_a_list_and_several_lines_a_block(emulator: Emulator) -> None:
    text = told(emulator, ("f", {"text": "one\n# two"}), ("g", {}))
    assert "- `f` answered: text \n\n~~~~text\none\n# two\n~~~~\n" in text
    assert text.endswith("- `g` answered: nothing")


def test_a_long_value_is_not_repeated_whole(emulator: Emulator) -> None:
    ask = user("read big.md")
    asked = model(*parts(generate(emulator, {"contents": [ask], "tools": TOOLS})))
    done = answers(("read_file", {"text": "long " * 10_000}))
    text = text_of([generate(emulator, {"contents": [ask, asked, done], "tools": TOOLS})])
    assert len(text) < 1_000 and "…" in text


def test_answers_to_an_unknown_question_are_told_too(emulator: Emulator) -> None:
    """After a detached user task, the calls follow the dynamic layer directly."""
    assert told(emulator, ("f", {"ok": True})) == "`f` answered: ok yes"


def told(emulator: Emulator, *done: tuple[str, dict[str, Any]]) -> str:
    """What the emulator makes of answers to calls that no phrase asked for."""
    calls = [call(done[0][0], DUMMY_WORDS[0]), *(call(name) for name, _ in done[1:])]
    contents = [user("static", "{}"), model(*calls), answers(*done)]
    return text_of([generate(emulator, {"contents": contents})])


@pytest.mark.parametrize(
    ("departure", "words", "time"),
    [
        ("12 PM", "book a taxi 2 hours before", "10 AM"),
        ("1:30 AM", "book a taxi 3 hours before", "10:30 PM"),
        ("12 PM", "book a taxi if delayed", "10 AM"),
        ("soon", "book a taxi 2 hours before", "soon"),
    ],
)
def test_the_taxi_comes_hours_before(departure: str, words: str, time: str) -> None:
    assert taxi_time(departure, words) == time


WISH = "Write a summary of the conversation above, in a few words."
TALK = "[user]: What is it? Tell me.\n[assistant]: A chat. It is small.\ntool_call f({})\n"


def summed_up(emulator: Emulator, *texts: str) -> str:
    body: dict[str, Any] = {"contents": [user(text) for text in texts]}
    return text_of([generate(emulator, body)])


def test_each_message_becomes_its_first_sentence(emulator: Emulator) -> None:
    assert summed_up(emulator, TALK, WISH) == "- Asked: What is it?\n- Answered: A chat."


def test_a_long_talk_is_cut(emulator: Emulator) -> None:
    assert summed_up(emulator, TALK * 10, WISH).endswith("- … and 8 more.")


def test_a_talk_without_words_has_no_summary(emulator: Emulator) -> None:
    assert summed_up(emulator, "nothing of the kind", WISH) == "Nothing was said."


def test_what_is_summed_up_is_no_cue(emulator: Emulator) -> None:
    assert "What is the weather in Paris?" in summed_up(
        emulator, "[user]: What is the weather in Paris?", WISH
    )
