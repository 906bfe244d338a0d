"""Hostile templates: none of them gets at Python, and none takes more than its purse.

The limit is a count of steps, so these hold on any machine; the seconds of this thread only show that a step
is small.
"""

from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.prompt import metering
from sessions_app.prompt.templates import render

VALUES = {
    "xs": list(range(3000)),
    "big": "a" * 100_000,
    "word": "x",
    "many": {str(n): n for n in range(3000)},
}
DOUBLING = "{% set w = w ~ w %}"
NESTED = "{% set l = [l, l] %}"

HOSTILE = {
    "three loops": "{% for a in xs %}{% for b in xs %}{% for c in xs %}{{ a }}" + "{% endfor %}" * 3,
    "four loops": "{% for a in xs %}" * 4 + "{% endfor %}" * 4,
    "an empty loop in a loop": "{% for a in xs %}{% for b in xs %}{% endfor %}{% endfor %}",
    "a recursive loop": "{% for a in xs recursive %}{{ loop(xs) }}{% endfor %}",
    "a power": "{{ 10 ** (10 ** 7) }}",
    "a tower of powers": "{{ 9**9**9**9**9**9 }}",
    "a product of text": "{{ 'a' * 10 ** 9 }}",
    "a product of lists": "{{ [0] * 10 ** 9 }}",
    "doubling text": "{% set w = 'aaaaaaaa' %}" + DOUBLING * 60 + "{{ w }}",
    "doubling text by plus": "{% set w = 'aaaaaaaa' %}" + "{% set w = w + w %}" * 60,
    "doubling lists": "{% set l = [0] %}" + NESTED * 60 + "{{ l }}",
    "comparing doubled lists": "{% set l = [0] %}" + NESTED * 25 + "{% set m = [0] %}"
    + NESTED.replace("l", "m").replace("{% smt", "{% set") * 25 + "{{ l == m }}",
    "doubling lists by plus": "{% set l = [0] %}" + "{% set l = l + l %}" * 60,
    "old formatting": "{{ '%999999999d' % 1 }}",
    "the format filter": "{{ '%999999999d'|format(1) }}",
    "the format method": "{{ '{:>999999999}'.format(1) }}",
    "center": "{{ 'x'|center(10 ** 9) }}",
    "indent": "{{ 'x'|indent(10 ** 9) }}",
    "replace": "{{ big|replace('', big) }}",
    "join": "{{ xs|join(big) }}",
    "round": "{{ 10|round(-1000000000) }}",
    "escaping again and again": "{{ ('<' * 300000)|e|e|e }}",
    "a range": "{% for i in range(10 ** 9) %}{{ i }}{% endfor %}",
    "searching in a loop": "{% for a in xs %}{% for b in xs %}{{ 'zz' in big }}{% endfor %}{% endfor %}",
    "upper in a loop": "{% for a in xs %}{% for b in xs %}{% set z = big|upper %}{% endfor %}{% endfor %}",
    "slices in a loop": "{% for a in xs %}{% for b in xs %}{% set z = big[1:] %}{% endfor %}{% endfor %}",
    "a block in a loop": "{% set q %}{% for a in xs %}{% for b in xs %}" + "z" * 5000
    + "{% endfor %}{% endfor %}{% endset %}",
    "output": "{% for a in xs %}" + "z" * 5000 + "{% endfor %}",
    "parentheses": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "a long sum": "{{ 1" + "+1" * 60_000 + " }}",
    "a long list": "{{ [" + "1," * 60_000 + "] }}",
    "many tags": "{{ word }}" * 20_000,
    "nested conditions": "{% if 1 %}" * 600 + "{% endif %}" * 600,
    "a long name": "{{ word" + ".x" * 3000 + " }}",
    "a macro that calls itself": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "a file": "{% include '/etc/passwd' %}",
    "an import": "{% import 'os' as os %}",
    "a parent": "{% extends 'base.html' %}",
    "itself": "{{ self }}",
    "lorem ipsum": "{{ lipsum(n=100000) }}",
    "an attribute by filter": "{{ ''|attr('__class__') }}",
    "a loop as a value": "{% for a in xs %}{{ [loop] }}{% endfor %}",
    "mutation": "{{ xs.clear() }}",
    "a long path in map": "{{ xs|map(attribute='.' * 380000)|list|length }}",
    "a long path in sort": "{{ xs|sort(attribute='1,' * 50000)|length }}",
    "a long path in sort, by place": "{{ xs|sort(false, false, '1,' * 50000)|length }}",
    "a long path in selectattr": "{{ xs|selectattr('.' * 100000)|list|length }}",
    "a long path in rejectattr": "{{ xs|rejectattr('.' * 100000)|list|length }}",
    "a long path in unique": "{{ xs|unique(attribute='.' * 100000)|list|length }}",
    "a long path in min": "{{ xs|min(attribute='.' * 100000) }}",
    "a long path in max": "{{ xs|max(false, '.' * 100000) }}",
    "a long path in a filter of map": "{{ [xs]|map('sort', attribute='.' * 100000)|list|length }}",
    "searching in a test": "{{ xs|select('in', big.split('aa'))|list|length }}",
    "splitting in a loop": "{% for a in xs %}{% for b in xs %}{% if big.split('b') %}{% endif %}"
    "{% endfor %}{% endfor %}",
    "missing names in a loop": "{% for a in xs %}{% for b in xs %}{{ many.nope }}{% endfor %}{% endfor %}",
}  # fmt: skip

QUIET = {
    "a class": "{{ ''.__class__.__mro__ }}",
    "a method as a value": "{{ big.split }}{{ xs.count }}",
    "a class by key": "{{ ''['__class__'] }}",
    "a class by map": "{{ ['']|map(attribute='__class__')|list }}",
    "globals of an undefined name": "{{ nothing.__init__.__globals__ }}",
}


@pytest.mark.parametrize("template", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_template_is_stopped(template: str) -> None:
    began = thread_time()
    rendered = render(template, VALUES)
    assert thread_time() - began < 1
    assert (rendered.status, rendered.text) == ("fallback", template)
    assert VALUES["xs"] == list(range(3000))


@pytest.mark.parametrize("template", QUIET.values(), ids=QUIET.keys())
def test_what_lies_behind_a_value_does_not_exist(template: str) -> None:
    assert "class" not in render(template, VALUES).text.replace(template, "")


@pytest.mark.parametrize("template", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_template_spends_no_more_than_its_purse(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = []

    class Counting(metering.Meter):
        def spend(self, steps: int) -> None:
            super().spend(steps)
            spent.append(steps)

    monkeypatch.setattr("sessions_app.prompt.templates.Meter", Counting)
    render(template, VALUES)
    assert sum(spent) <= metering.MAX_STEPS


loops = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3)
bodies = st.sampled_from(["{{ big }}", "{{ xs }}", "{% set q = [xs, xs] %}", "{{ xs|sort|join }}", "x" * 999])


@settings(max_examples=30, deadline=None)
@given(loops, bodies)
def test_whatever_stands_in_a_loop_the_result_is_bounded(names: list[str], body: str) -> None:
    template = "".join(f"{{% for {name} in xs %}}" for name in names) + body + "{% endfor %}" * len(names)
    assert len(render(template, VALUES).text) <= metering.MAX_LENGTH


def test_two_templates_do_not_share_a_purse() -> None:
    loop = "{% for a in xs %}{% for b in few %}.{% endfor %}{% endfor %}"
    for _ in range(3):
        assert render(loop, {"xs": list(range(1000)), "few": list(range(20))}).status == "rendered"
