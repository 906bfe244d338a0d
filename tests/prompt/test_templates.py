"""Templates as the original renders them (reference A4), and what becomes of those that cannot be."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions_app.prompt.argument_maps import expand_dotted
from sessions_app.prompt.metering import MAX_LENGTH
from sessions_app.prompt.syntax import Use
from sessions_app.prompt.templates import cache_breakers, render, uses_of, verbatim

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


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_argument_does_not_beat_a_default(empty: str | None) -> None:
    said = {"message": {"language": empty, "text": ""}, "tone": empty, "count": 0}
    defaults = {"message.language": "English", "tone": "calm", "count": 7}
    template = "{{ message.language }} [{{ message.text }}] {{ tone }} {{ count }}"
    assert render(template, said, defaults).text == "English [] calm 0"


def test_a_default_without_a_value_is_defined() -> None:
    assert render("[{{ tone }}]", {}, {"tone": ""}).undefined == ()


BROKEN = [
    ("{% for m in messages %}{{ m.role }}", 1, "'endfor'"),
    ("fine\n{{ name", 2, "end of print statement"),
    ("{% unknown %}", 1, "unknown"),
    ("{{ name|shout }}", 1, "shout"),
    ("one\n\n{{ name.first }}\n{{ name }}", 3, "no “first”"),
    ("{{ 1 / 0 }}", 1, "division by zero"),
    ("{{ name() }}", 1, "functions"),
    ("{{ missing + 1 }}", 1, "'missing' is undefined"),
    ("{{ args.first() }}", 1, "functions"),
    ("{{ name.items() }}", 1, "a text has no “items()”"),
    ("{{ args.nope.items() }}", 1, "'args.nope' is undefined"),
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


def test_keys_of_a_map_come_before_its_methods() -> None:
    args = {"items": "apples", "b": 2}
    assert render("{{ args.items }}", {"args": args}).text == "apples"
    assert render("{% for k, v in x.items() %}{{ k }}={{ v }} {% endfor %}", {"x": {"a": 1}}).text == "a=1 "


PYTHON = sorted({name for kind in (dict, list, str, int) for name in dir(kind)} | {"nope", "länge"})
CONTAINERS = st.sampled_from(
    ["args", "args.map", "args.list", "args['map']", "args.list[0]", "args.nope", "nope"]
)
KNOWN: dict[str, Any] = {"args": {"map": {}, "list": [{}]}}


@given(CONTAINERS, st.sampled_from(PYTHON))
def test_a_name_is_an_argument_and_never_a_method(holder: str, name: str) -> None:
    asked = f"{holder}.{name}"
    rendered = render(f"[{{{{ {asked} }}}}]", KNOWN)
    assert (rendered.status, rendered.text, rendered.undefined) == ("rendered", "[]", (asked,))
    assert render(f"{{{{ {asked}|default('d') }}}}", KNOWN).text == "d"
    assert render(f"{{{{ args.x.{name} }}}}", {"args": {"x": {name: "v"}}}).text == "v"
    assert (
        render(f"{{{{ [args.x]|map(attribute='{name}')|join }}}}", {"args": {"x": {name: "v"}}}).text == "v"
    )


@given(st.sampled_from(dir(str)))
def test_a_text_has_no_methods_either(name: str) -> None:
    rendered = render(f"[{{{{ word.{name} }}}}]", {"word": "x"})
    assert (rendered.text, rendered.undefined) == ("[]", (f"word.{name}",))


def test_a_method_is_called_even_where_an_argument_has_its_name() -> None:
    args = {"items": "apples"}
    assert (
        render("{% for k, v in args.items() %}{{ k }}={{ v }}{% endfor %}", {"args": args}).text
        == "items=apples"
    )


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
    assert len(rendered.text) <= max(MAX_LENGTH, len(text))


@given(st.text(), values)
def test_the_same_template_says_the_same_twice(text: str, given_values: dict[str, Any]) -> None:
    assert render("{{ xs }}" + text, given_values) == render("{{ xs }}" + text, given_values)


def found(text: str) -> list[tuple[str, int]]:
    return [(one.path, one.line) for one in cache_breakers(uses_of(text))]


@pytest.mark.parametrize(
    "variable",
    [
        "system.current_time",
        "system.date_unix_ms",
        "system",
        "message.text",
        "message.language",
        "message",
        "conversation",
        "conversation.duration",
        "conversation.updated_date",
    ],
)
def test_what_changes_by_itself_is_found(variable: str) -> None:
    assert found(f"one\n{{{{ {variable} }}}}") == [(variable, 2)]


@pytest.mark.parametrize(
    "variable",
    [
        "assistant.name",
        "args",
        "args.x",
        "name",
        "session.mode",
        "conversation.id",
        "conversation.created_date",
    ],
)
def test_what_stays_is_no_breaker(variable: str) -> None:
    assert found(f"{{{{ {variable} }}}}") == []


def test_each_variable_is_told_once_with_its_first_line() -> None:
    assert found("{{ message.text }}\n{{ message.text }}{{ system['current_date'] }}") == [
        ("message.text", 1),
        ("system.current_date", 2),
    ]


def test_a_new_name_hides_nothing() -> None:
    assert found("{% set clock = system.current_time %}{{ clock }}") == [("system.current_time", 1)]


def test_the_day_changes_more_rarely_than_the_time() -> None:
    names = "{{ system.current_date }}{{ system.day_of_week }}{{ system.current_time }}"
    assert [one.rate for one in cache_breakers(uses_of(names))] == ["daily", "daily", "always"]


@pytest.mark.parametrize(
    ("description", "rates"),
    [
        ("{{ args.tone }}", []),
        ("{{ args.tone }}{{ system.current_date }}", ["daily"]),
        ("{{ system.current_date }}{{ system.current_time }}", ["always"]),
    ],
)
def test_an_assistants_description_changes_as_often_as_what_it_names(
    description: str, rates: list[str]
) -> None:
    found = cache_breakers(uses_of("{{ assistant.description }}"), uses_of(description))
    assert [one.rate for one in found] == rates


@given(
    st.lists(
        st.sampled_from(
            ["{%", "%}", "{{", "}}", "{#", "-", "+", " ", "\r", "\n", "raw", "endraw", "x", "\\", '"']
        )
    ).map("".join)
)
@example("Be {{ brief }}.\r\nEnd {%- endraw %} here.\r")
@example("{{ long }}" * 20_001)
@example('Say "{{ é \U0001f600 }}" \\n\\\r\n' * 2_000)
def test_a_text_that_is_meant_as_it_is_written_stays_so(text: str) -> None:
    assert render(verbatim(text), {"x": "a value"}).text == text
