"""Example messages of a prompt template, as a person writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.examples import ExampleMessage, parse_examples, written
from tests.prompt.examples import texts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" \n", []),
        ("user: Hi\nassistant: Hello", [("user", "Hi"), ("assistant", "Hello")]),
        ("assistant:\nTwo\n\nlines\n\nuser:\tso", [("assistant", "Two\n\nlines"), ("user", "so")]),
        ("user: a user: b\n user: c", [("user", "a user: b\n user: c")]),
        ("user: {{ name }}, User: no", [("user", "{{ name }}, User: no")]),
    ],
)
def test_a_role_at_the_beginning_of_a_line_begins_a_message(text: str, found: list[tuple[str, str]]) -> None:
    assert [(one.role, one.text) for one in parse_examples(text)] == found


@pytest.mark.parametrize("text", ["Hi", "model: Hi", "user:", "user: a\nassistant: \nuser: b", "x\nuser: a"])
def test_a_text_without_a_role_and_a_role_without_a_text_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^no (role|text)$"):
        parse_examples(text)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=3))
def test_what_was_parsed_is_written_as_it_is_parsed(said: list[tuple[str, str]]) -> None:
    typed = "\n".join(f"{role}: {text}" for role, text in said)
    try:
        found = parse_examples(typed)
    except ValueError:
        return
    assert all(isinstance(one, ExampleMessage) for one in found)
    assert parse_examples(written(found)) == found
