"""Fragments that are rendered once in a process."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.template import Context, Template
from django.template.base import Node, VariableNode
from django.template.loader import get_template, render_to_string
from django.template.loader_tags import IncludeNode
from django.test import Client
from django.urls import reverse

from pipeweb.settings import BASE_DIR
from sessions_app.models import Exchange
from sessions_app.ribbon import Ribbon, make_ribbon
from sessions_app.templatetags import kept as tag
from tests.factories import answered, make_session

KEPT = re.compile(r'{% kept "([^"]+)"')
NAMES = sorted(
    {name for path in (BASE_DIR / "templates").rglob("*.html") for name in KEPT.findall(path.read_text())}
)

OF_A_MOMENT = {"ago", "date", "time", "timesince", "timeuntil", "naturaltime", "naturalday", "minute"}
"""Filters whose result depends on the clock or on the reader's time zone."""


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    tag.fragments.clear()
    yield
    tag.fragments.clear()


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the templates that are rendered from now on."""
    names: list[str] = []
    plain = Template._render  # type: ignore[attr-defined]

    def noted(self: Template, context: object) -> str:
        names.append(str(self.name))
        return str(plain(self, context))

    monkeypatch.setattr(Template, "_render", noted)
    return names


def ribbon(tokens: int = 90, cached: int = 0) -> Ribbon:
    return make_ribbon({"static": tokens, "trigger": 10}, prompt=100, cached=cached, is_named=False)


def nodes_of(name: str) -> Iterator[Node]:
    """Those of the template and of the templates that it includes."""
    template: Template = get_template(name).template  # type: ignore[attr-defined]
    for node in template.nodelist.get_nodes_by_type(Node):
        yield node
        if isinstance(node, IncludeNode):
            yield from nodes_of(node.template.resolve(Context()))


def test_a_fragment_is_rendered_once_for_equal_values(rendered: list[str]) -> None:
    shown = {tag.kept("ribbon.html", ribbon=ribbon()) for _ in range(3)}
    assert rendered == ["ribbon.html"]
    assert shown == {render_to_string("ribbon.html", {"ribbon": ribbon()})}


def test_other_values_and_other_names_of_them_are_other_fragments() -> None:
    plain = tag.kept("ribbon.html", ribbon=ribbon())
    assert tag.kept("ribbon.html", ribbon=ribbon(cached=50)) != plain
    assert "<a href=" in tag.kept("ribbon.html", ribbon=ribbon(), links="/somewhere")
    assert tag.kept("ribbon_bars.html", ribbon=ribbon()) != plain


def test_collected_files_give_fragments_with_the_new_names(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tag.kept("ribbon.html", ribbon=ribbon())
    monkeypatch.setattr(tag, "hashed_sheet", lambda: "icons.0123456789ab.svg")
    monkeypatch.setattr(tag, "render_to_string", lambda name, values: f"{name} again")
    assert tag.kept("ribbon.html", ribbon=ribbon()) == "ribbon.html again" != before


def test_what_is_kept_stays_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tag, "render_to_string", lambda name, values: "x" * (tag.KEPT // 40))
    for number in range(100):
        tag.kept("ribbon.html", number=number)
    assert 0 < tag.fragments._size <= tag.KEPT and len(tag.fragments._values) < 100


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_template_reads_neither_clock_nor_request(name: str) -> None:
    nodes = list(nodes_of(name))
    filters = {
        function.__name__
        for node in nodes
        if isinstance(node, VariableNode)
        for function, _ in node.filter_expression.filters
    }
    assert filters & OF_A_MOMENT == set()
    assert {type(node).__name__ for node in nodes} & {"CsrfTokenNode", "NowNode"} == set()


def test_every_kept_template_is_known_to_these_tests() -> None:
    assert {"chat/account.html", "inspector/item.html", "ribbon.html"} <= set(NAMES)
    assert all((Path(BASE_DIR) / "templates" / name).exists() for name in NAMES)


@pytest.mark.django_db
def test_a_page_seen_again_is_the_same_and_renders_no_item(
    client: Client, alice: User, rendered: list[str]
) -> None:
    session = make_session(alice)
    answered(session, "Where do zebras cross?", "Anywhere.")
    number = Exchange.objects.get(session=session).number
    for address, fragment in (
        (reverse("exchange", args=[session.public, number]), "inspector/item.html"),
        (session.get_absolute_url(), "chat/account.html"),
    ):
        client.get(address)
        first = len(rendered), rendered.count(fragment)
        rendered.clear()
        client.get(address)
        assert first[1] > 0 == rendered.count(fragment) and len(rendered) < first[0]
        rendered.clear()


@pytest.mark.django_db
def test_what_changed_of_an_answer_is_shown(client: Client, alice: User) -> None:
    session = make_session(alice)
    answered(session, "Where do zebras cross?", "Anywhere.")
    address = session.get_absolute_url()
    assert "model-of-another-name" not in client.get(address).content.decode()
    Exchange.objects.filter(session=session).update(served_model="model-of-another-name")
    assert "model-of-another-name" in client.get(address).content.decode()
