import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.signer import DUMMY_WORDS
from sessions_app.emulator.slash_commands import find_commands
from tests.emulator.helpers import OPENING, answers, call, declare, generate, model, parts, text_of, user

TOOLS = declare(
    check_flight=["flight"], book_taxi=["time"], get_current_temperature=["location"], add_todo=["t"]
)


def told(emulator: Emulator, *texts: str) -> str:
    return text_of([generate(emulator, {"contents": [user(text) for text in texts], "tools": TOOLS})])


def test_it_says_what_it_is_and_what_was_asked(emulator: Emulator) -> None:
    text = told(emulator, "How tall is the tower?")
    assert text.startswith(f"{OPENING} `How tall is the tower?`.") and "emulator" in text


def test_it_says_what_it_received_content_by_content(emulator: Emulator) -> None:
    signed = call("f", DUMMY_WORDS[0], a="b")
    contents = [
        user("static", "dynamic"),
        model(signed),
        answers(("f", {})),
        model({"text": "Done."}),
        user("hi"),
    ]
    text = text_of([generate(emulator, {"contents": contents})])
    assert "| 1 | user | 2 text | 5 | no |" in text
    assert "| 2 | model | function call |" in text and "| yes |" in text
    assert "| 5 | user | text | 1 | no |" in text


def test_the_total_it_tells_is_the_total_it_reports(emulator: Emulator) -> None:
    answer = generate(emulator, {"contents": [user("static " * 900), user("hi")], "tools": TOOLS})
    assert f"{answer['usageMetadata']['promptTokenCount']:,} tokens in all" in text_of([answer])


def test_it_shows_how_to_see_tools_thoughts_errors_and_slow_or_empty_streams(emulator: Emulator) -> None:
    text = told(emulator, "hi")
    examples = ("add a todo: ", "Paris and London", "/think", "/slow", "/error 503 once", "/empty")
    assert all(f"`{example}" in text or example in text for example in examples)


def test_without_functions_it_offers_none(emulator: Emulator) -> None:
    assert "none are declared" in text_of([generate(emulator, {"contents": [user("hi")]})])


@pytest.mark.parametrize("count", [1, 7, 60])
def test_it_stays_short(emulator: Emulator, count: int) -> None:
    assert len(told(emulator, *["some words"] * count)) < 1_500


def test_many_contents_are_summed_up(emulator: Emulator) -> None:
    assert "54 more contents" in told(emulator, *["some words"] * 60)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=300).filter(lambda text: not find_commands(text)), min_size=1))
def test_it_has_an_answer_to_everything(texts: list[str]) -> None:
    assert parts(generate(Emulator(delay=0), {"contents": [user(text) for text in texts]}))
