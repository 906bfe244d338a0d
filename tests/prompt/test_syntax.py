"""Which variables a template uses, against what its text depends on."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.syntax import Use
from sessions_app.prompt.templates import CacheBreaker, ChangeRate, cache_breakers, render, uses_of

names = st.sampled_from(["a", "b", "c"])
values = st.one_of(names, names.map("{}.x".format), st.tuples(names, names).map(" ~ ".join), st.just("1"))


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    shapes = [
        "{{% for {0} in {1} %}}{2}{{% else %}}{3}{{% endfor %}}",
        "{{% for {0} in {1} if {0} %}}{2}{{% endfor %}}{3}",
        "{{% if {1} %}}{2}{{% else %}}{3}{{% endif %}}",
        "{{% if {1} %}}{2}{{% elif {0} %}}{3}{{% endif %}}",
        "{{% with {0} = {1} %}}{2}{{% endwith %}}{3}",
        "{{% set {0} %}}{2}{{% endset %}}{3}",
        "{{% filter upper %}}{2}{{% endfilter %}}{3}",
        "{{% autoescape true %}}{2}{{% endautoescape %}}{3}",
        "{2}{3}",
    ]
    return st.builds(str.format, st.sampled_from(shapes), names, values, inner, inner)


outputs = values.map("{{{{ {} }}}}".format)
assignments = st.builds("{{% set {} = {} %}}".format, names, values)
templates = st.recursive(st.one_of(outputs, assignments), blocks, max_leaves=6)


@given(templates)
def test_no_text_depends_on_a_variable_that_its_template_does_not_use(template: str) -> None:
    used = {use.path.partition(".")[0] for use in uses_of(template)}
    said: dict[str, Any] = {name: {"x": name} for name in "abc"}
    others = {name: {"x": f"another {name}", "y": 1} for name in said.keys() - used}
    assert render(template, said | others).text == render(template, said).text


@pytest.mark.parametrize(
    ("template", "uses"),
    [
        ("{% for m in m.list %}{{ m.x }}{% else %}{{ m.y }}{% endfor %}", ("m.list", "m.y")),
        ("{{ m.x }}{% set m = m.y %}{{ m.z }}", ("m.x", "m.y")),
        ("{% if m.x %}{% set m = 1 %}{% endif %}{{ m.y }}", ("m.x", "m.y")),
        ("{% if m.x %}{% set m = 1 %}{% else %}{% set m = 2 %}{% endif %}{{ m.y }}", ("m.x",)),
        ("{% with m = m.x %}{{ m.y }}{% endwith %}{{ m.z }}", ("m.x", "m.z")),
        ("{% for x in y %}{{ loop.index }}{% endfor %}{{ on }}", ("y",)),
    ],
)
def test_a_name_is_the_templates_own_from_its_assignment_to_the_end_of_the_block(
    template: str, uses: tuple[str, ...]
) -> None:
    assert uses_of(template) == tuple(Use(path, 1) for path in uses)


def test_a_loop_over_messages_hides_no_use_of_the_message() -> None:
    template = "{% for message in args.old %}{{ message.text }}{% endfor %}\n{{ message.text }}"
    assert cache_breakers(uses_of(template)) == (CacheBreaker("message.text", 2, ChangeRate.ALWAYS),)
