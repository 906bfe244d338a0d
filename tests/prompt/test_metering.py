"""Names without a value: what is told of them, wherever they stand in a template."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.templates import render


def test_names_without_a_value_are_listed_as_they_were_written() -> None:
    template = (
        "{{ a }}{{ b.c }}{{ args.x }}{{ message.mood }}{{ d|upper }}{% for x in e %}{% endfor %}{{ f > 1 }}"
    )
    rendered = render(template, {"args": {}, "message": {"text": "x"}})
    assert rendered.undefined == ("a", "b.c", "args.x", "message.mood", "d", "e", "f")


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{{ args.m.zzz ~ 'x' }}", "args.m.zzz"),
        ("{{ 'x' ~ (a ~ 'y') }}", "a"),
        ("{% set text = a ~ 'x' %}", "a"),
        ("{{ xs|map(attribute='foo')|join }}", "foo"),
        ("{{ xs|map(attribute='foo')|list }}", "foo"),
        ("{{ [a]|join(', ') }}", "a"),
        ("{{ {'k': [args.m.zzz]} }}", "args.m.zzz"),
        ("{{ [a]|tojson }}", "a"),
        ("{{ [a]|string }}", "a"),
        ("{{ ['x', a|default(b)]|join }}", "b"),
    ],
)
def test_a_name_without_a_value_is_told_inside_a_text_or_a_list_as_well(template: str, name: str) -> None:
    assert render(template, {"args": {"m": {}}, "xs": [{}, {}]}).undefined == (name,)


def test_asking_whether_a_name_has_a_value_is_not_using_it() -> None:
    template = "{% if a %}{% endif %}{% if b is defined %}{% endif %}{{ c|default('x') }}"
    rendered = render(template, {})
    assert (rendered.text, rendered.undefined) == ("x", ())


names = st.sampled_from(["nope", "items", "a", "l"])
steps = names.map(".{}".format) | st.sampled_from(["[5]", "['x y']", "[a]", "[a.b]", "[-1]", "[l[0]]"])


@given(names, st.lists(steps, max_size=5).map("".join))
def test_a_missing_name_is_told_as_it_was_written(root: str, path: str) -> None:
    rendered = render(f"{{{{ {root}{path} }}}}", {"l": []})
    empty = root == "l" and not path
    assert rendered.undefined == (() if empty else (root + path,))


def test_a_key_of_something_unnamed_is_told_behind_an_ellipsis() -> None:
    assert render("{{ (xs|first).x }}{{ xs[1:][7] }}", {"xs": [{}]}).undefined == ("….x", "xs[…][7]")
