import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.emulator import Emulator
from sessions_app.emulator.default_answer import REPORT
from sessions_app.emulator.signer import DUMMY_WORDS
from sessions_app.emulator.slash_commands import find_commands
from sessions_app.markup import render
from sessions_app.markup.rendering import EMULATOR_REPORT
from tests.emulator.helpers import OPENING, answers, call, declare, generate, model, parts, text_of, user

FENCED = f"\n~~~~{REPORT}\n"

TOOLS = declare(
    check_flight=["flight"], book_taxi=["time"], get_current_temperature=["location"], add_todo=["t"]
)


def told(emulator: Emulator, *texts: str) -> str:
    return text_of([generate(emulator, {"contents": [user(text) for text in texts], "tools": TOOLS})])


def test_a_question_gets_an_honest_answer(emulator: Emulator) -> None:
    text = told(emulator, "How tall is the tower?")
    assert text.startswith(f"I cannot know that. {OPENING}")


def test_a_greeting_is_returned(emulator: Emulator) -> None:
    assert told(emulator, "hello there").startswith(f"Hello! {OPENING}")
    assert not told(emulator, "hidden treasures").startswith("Hello!")


@pytest.mark.parametrize(
    ("asked", "sample"),
    [("table", "|---|---|"), ("list", "1. "), ("some code", "```python\n"), ("formula", "$$")],
)
def test_an_example_of_a_form_is_given_on_request(emulator: Emulator, asked: str, sample: str) -> None:
    before, _, report = told(emulator, f"show me a {asked}").partition(FENCED)
    assert sample in before and report


def test_what_was_received_stands_in_the_report_only(emulator: Emulator) -> None:
    before, _, report = told(emulator, "A tower\n~~~~\nof blocks").partition(FENCED)
    assert "tokens" not in before and "A tower" not in before
    assert "newest text: A tower ~~~~ of blocks" in report
    assert report.endswith("\n~~~~") and report.count("\n~~~~") == 1


def test_the_page_folds_the_report(emulator: Emulator) -> None:
    assert REPORT == EMULATOR_REPORT
    html = render(told(emulator, "hi <b>you</b>"))
    assert html.count('<details class="fold received"><summary>What the model received</summary>') == 1
    assert "hi &lt;b&gt;you" in html.partition("<details")[2] and "tokens in all" in html


def test_no_other_fence_is_folded() -> None:
    assert "<details" not in render("```text\nWhat the model received\n```")
    assert "<details" not in render("<details><summary>What the model received</summary></details>")


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
    assert "1. user: 2 text, 5 tokens\n" in text
    assert "2. model: function call, " in text and "tokens, signed\n" in text
    assert "5. user: text, 1 tokens\n" in text


def test_the_total_it_tells_is_the_total_it_reports(emulator: Emulator) -> None:
    answer = generate(emulator, {"contents": [user("static " * 900), user("hi")], "tools": TOOLS})
    assert f"{answer['usageMetadata']['promptTokenCount']:,} tokens in all" in text_of([answer])


def test_it_shows_how_to_see_tools_thoughts_errors_and_slow_or_empty_streams(emulator: Emulator) -> None:
    text = told(emulator, "hi")
    examples = ("add a todo: ", "Paris and London", "/think", "/slow", "/error 503 once", "/empty")
    assert all(f"`{example}" in text or example in text for example in examples)


def test_without_functions_it_offers_none(emulator: Emulator) -> None:
    assert "declares none" in text_of([generate(emulator, {"contents": [user("hi")]})])


def test_a_function_that_no_phrase_calls_is_offered_by_its_name(emulator: Emulator) -> None:
    """Of any program: what is offered does call it."""
    body = {"contents": [user("hi")], "tools": declare(lookup=["name"], book=["name"])}
    offered = re.findall(r"`(call \w+)`", text_of([generate(emulator, body)]))
    assert offered == ["call lookup", "call book"]
    answer = generate(emulator, body | {"contents": [user(offered[0])]})
    assert [part["functionCall"]["name"] for part in parts(answer) if "functionCall" in part] == ["lookup"]


@pytest.mark.parametrize("count", [1, 7, 60])
def test_it_stays_short(emulator: Emulator, count: int) -> None:
    assert len(told(emulator, *["some words"] * count)) < 1_500


def test_many_contents_are_summed_up(emulator: Emulator) -> None:
    assert "54 more contents" in told(emulator, *["some words"] * 60)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=300).filter(lambda text: not find_commands(text)), min_size=1))
def test_it_has_an_answer_to_everything(texts: list[str]) -> None:
    assert parts(generate(Emulator(delay=0), {"contents": [user(text) for text in texts]}))
