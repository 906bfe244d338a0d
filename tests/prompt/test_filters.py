"""The filters that are written anew do what Jinja's own do, with and without autoescape."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from sessions_app.prompt.templates import render

OPERANDS = ("text", "(text|e)", "mark", "(mark|safe)", "7", "nope")
EXPRESSIONS = (
    "{0} ~ {1}",
    "{0} ~ '<' ~ {1}",
    "[{0}, {1}]|join",
    "[text, {0}]|join({1})",
    "{0}|replace({1}, mark)",
    "{0}|replace('a', {1})",
    "{0}|replace('a', {1}, 1)",
    "{0}|replace('a', {1}, none)",
)
JINJA = Environment(autoescape=False)


def asked(expression: str, escapes: str) -> str:
    return f"{{% autoescape {escapes} %}}{{{{ {expression} }}}}{{% endautoescape %}}"


@pytest.mark.parametrize("escapes", ["true", "false"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_texts_are_put_together_as_jinja_does(expression: str, escapes: str) -> None:
    said = {"text": "a&b <a>", "mark": "<a>"}
    for left, right in product(OPERANDS, repeat=2):
        template = asked(expression.format(left, right), escapes)
        rendered = render(template, said)
        assert (rendered.text, rendered.status) == (JINJA.from_string(template).render(said), "rendered")


@given(st.text("a<&\"'7", max_size=8), st.text("a<&7", max_size=2), st.text("<&b", max_size=2))
def test_any_text_is_replaced_as_jinja_does(text: str, old: str, new: str) -> None:
    said = {"text": text, "old": old, "new": new}
    for expression in ("text|replace(old, new)", "text|e|replace(old, new|e, 2)", "text|replace(old, new|e)"):
        for escapes in ("true", "false"):
            template = asked(expression, escapes)
            assert render(template, said).text == JINJA.from_string(template).render(said)


def test_a_text_that_was_escaped_stands_between_marks_as_they_are() -> None:
    template = '{{ "<note>" ~ (text|e) ~ "</note>" }}{{ text|e|replace("\\n", "<br>") }}'
    assert render(template, {"text": "a&\nb"}).text == "<note>a&amp;\nb</note>a&amp;<br>b"


@pytest.mark.parametrize("name", ["capitalize", "e", "lower", "safe", "title", "trim", "truncate", "upper"])
@pytest.mark.parametrize("value", [None, {"b": None, "a": [True]}, [1, "é"], 7, True, "a text"])
def test_a_filter_of_texts_takes_a_value_as_it_is_written(name: str, value: Any) -> None:
    written = render("{{ x }}", {"x": value}).text
    assert render(f"{{{{ x|{name} }}}}", {"x": value}).text == JINJA.filters[name](*given_to(name, written))


def given_to(name: str, text: str) -> tuple[Any, ...]:
    return (JINJA, text) if name == "truncate" else (text,)


def test_words_are_counted_in_what_is_written() -> None:
    assert render("{{ x|wordcount }} {{ y|wordcount }}", {"x": None, "y": "two words"}).text == "0 2"
