"""Templates as the original renders them (reference A4), and what becomes of those that cannot be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.maps import expand_dotted
from sessions_app.prompt.sandbox import LARGEST
from sessions_app.prompt.syntax import Use
from sessions_app.prompt.templates import render, uses_of

PEOPLE = [{"role": "user", "content": "Hi"}, {"role": "model", "content": "Hello"}]

ORIGINAL = [
    ("Hello, {{ name }}!", {"name": "World"}, "Hello, World!"),
    (
        "{{ greeting }} {{ name }}! You are {{ age }} years old.",
        {"greeting": "Hi", "name": "Alice", "age": 30},
        "Hi Alice! You are 30 years old.",
    ),
    (
        "Age: {{ age }} {% if age > 20 %}You are 20 year old{% endif %}",
        {"age": 30},
        "Age: 30 You are 20 year old",
    ),
    (
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
        {"messages": PEOPLE},
        "user: Hi\nmodel: Hello\n",
    ),
    ("\n{% if 1 %}\nx\n{% endif %}\n", {}, "\n\nx\n\n"),
    ("[{{ nothing }}{{ nothing.below }}{{ known.missing }}{{ list[9] }}]", {"known": {}, "list": []}, "[]"),
    ("{{ none }} {{ yes }} {{ half }}", {"none": None, "yes": True, "half": 1.5}, " True 1.5"),
    ("{{ metadata }}", {"metadata": {"note": "a & b"}}, '{"note":"a & b"}'),
    ("{{ x }}", {"x": {"b": [1, None], "a": "é"}}, '{"a":"é","b":[1,null]}'),
    ("{{ who }}", {"who": "Tom & Jo"}, "Tom & Jo"),
    ("{% autoescape true %}{{ who }}{% endautoescape %}", {"who": "<Tom & Jo>"}, "&lt;Tom &amp; Jo&gt;"),
    ("{% autoescape on %}{{ who }}{% endautoescape %}", {"who": "&"}, "&amp;"),
    ("{% autoescape off %}{{ who }}{% endautoescape %}", {"who": "&"}, "&"),
    (
        "{% autoescape on %}{{ who|safe }}{{ a ~ who }}{% endautoescape %}",
        {"who": "&", "a": "<"},
        "&&lt;&amp;",
    ),
]

DOTTED = [
    ({"message.language": "en", "message.text": "hello"}, "lang=en text=hello"),
    ({"message.language": "en", "message.text": "hello", "message": "scalar"}, "lang=en text=hello"),
    ({"message": {"language": "fr", "text": "bonjour"}, "message.language": "en"}, "lang=fr text=bonjour"),
]


@pytest.mark.parametrize(("template", "values", "text"), ORIGINAL)
def test_a_template_is_rendered_as_in_the_original(template: str, values: dict[str, Any], text: str) -> None:
    rendered = render(template, values)
    assert (rendered.text, rendered.status, rendered.reason) == (text, "rendered", "")


@pytest.mark.parametrize(("values", "text"), DOTTED)
def test_dotted_values_are_reached_by_their_path(values: dict[str, Any], text: str) -> None:
    template = "lang={{message.language}} text={{message.text}}"
    assert render(template, expand_dotted(values)).text == text


def test_defaults_stand_behind_the_arguments() -> None:
    template = "lang={{message.language}} text={{message.text}} {{ tone }}"
    said = {"message": {"language": "fr", "text": "bonjour"}}
    assert render(template, said, {"message.language": "English", "tone": "calm"}).text == (
        "lang=fr text=bonjour calm"
    )


def test_a_default_without_a_value_is_defined() -> None:
    assert render("[{{ tone }}]", {}, {"tone": ""}).undefined == ()


BROKEN = [
    ("{% for m in messages %}{{ m.role }}", 1, "'endfor'"),
    ("fine\n{{ name", 2, "end of print statement"),
    ("{% unknown %}", 1, "unknown"),
    ("{{ name|shout }}", 1, "shout"),
    ("one\n\n{{ name.first }}", 3, "no “first”"),
    ("{{ 1 / 0 }}", 1, "division by zero"),
    ("{{ name() }}", 1, "functions"),
    ("{{ missing + 1 }}", 1, "'missing' is undefined"),
    ("{{ args.items }}", 1, "not a value"),
    ("\\frac{{a}{b}", 1, "unexpected '}'"),
]


@pytest.mark.parametrize(("template", "line", "words"), BROKEN)
def test_what_fails_is_sent_as_it_was_written(template: str, line: int, words: str) -> None:
    rendered = render(template, {"name": "Ann", "args": {}})
    assert (rendered.text, rendered.status, rendered.line) == (template, "fallback", line)
    assert words in rendered.reason


@pytest.mark.parametrize("text", ["", "plain", '{"a": {"b": 1}}', "function() { return {}; }", "}} %}"])
def test_a_text_without_syntax_is_no_template(text: str) -> None:
    assert render(text, {}).status == "plain"
    assert render(text, {}).text == text


def test_names_without_a_value_are_listed_as_they_were_written() -> None:
    template = (
        "{{ a }}{{ b.c }}{{ args.x }}{{ message.mood }}{{ d|upper }}{% for x in e %}{% endfor %}{{ f > 1 }}"
    )
    rendered = render(template, {"args": {}, "message": {"text": "x"}})
    assert rendered.undefined == ("a", "b.c", "args.x", "message.mood", "d", "e", "f")


def test_asking_whether_a_name_has_a_value_is_not_using_it() -> None:
    template = "{% if a %}{% endif %}{% if b is defined %}{% endif %}{{ c|default('x') }}"
    rendered = render(template, {})
    assert (rendered.text, rendered.undefined) == ("x", ())


def test_keys_of_a_map_come_before_its_methods() -> None:
    args = {"items": "apples", "b": 2}
    assert render("{{ args.items }}", {"args": args}).text == "apples"
    assert render("{% for k, v in x.items() %}{{ k }}={{ v }} {% endfor %}", {"x": {"a": 1}}).text == "a=1 "


def test_the_variables_of_a_template_come_with_their_lines() -> None:
    text = "{{ a.b }}\n{% for x in args.list %}{{ x.y }}{% endfor %}\n{{ c['d'] }}{{ c[a] }}"
    assert uses_of(text) == (Use("a.b", 1), Use("args.list", 2), Use("c.d", 3), Use("c", 3), Use("a", 3))


def test_rendering_changes_no_argument() -> None:
    values = {"list": [3, 1, 2], "map": {"a": 1}}
    render("{{ list|sort }}{% set list = [] %}{% set map = 1 %}", values)
    assert values == {"list": [3, 1, 2], "map": {"a": 1}}


SYNTAX = ["{{", "}}", "{%", "%}", "{#", "#}", " for x in xs ", " endfor ", " if xs ", " endif ", " set y = "]
WORDS = ["xs", "y", "|upper", "|join(xs)", "|replace('', xs)", " ~ ", " * ", "**", "9999999", "'a'", "[", "]"]
MORE = ["(", ")", ".items()", ".x", "|list", "|map('upper')", "%", "range", "self", " raw ", " endraw "]
ODD = [" macro m() ", " filter upper ", " endfilter ", "\n", "ü", "\ud800", "\0"]
pieces = st.sampled_from([*SYNTAX, *WORDS, *MORE, *ODD])
values = st.dictionaries(
    st.sampled_from(["xs", "y", "x"]), st.recursive(st.text(max_size=4) | st.integers() | st.none(), st.lists)
)


@given(st.lists(pieces, max_size=30).map("".join) | st.text(), values)
def test_rendering_never_fails(text: str, given_values: dict[str, Any]) -> None:
    rendered = render(text, given_values)
    assert rendered.status == "rendered" or rendered.text == text
    assert bool(rendered.reason) == (rendered.status == "fallback")
    assert len(rendered.text) <= max(LARGEST, len(text))


@given(st.text(), values)
def test_the_same_template_says_the_same_twice(text: str, given_values: dict[str, Any]) -> None:
    assert render("{{ xs }}" + text, given_values) == render("{{ xs }}" + text, given_values)
