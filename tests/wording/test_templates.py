"""Every code has its wording, and every wording is used for some value."""

import pytest

from sessions_app.prompt.stored import Code
from tests.wording.examples import all_sentences
from tests.wording.templates import Templates, all_templates, mark_of, reworded

CODED = [found for found in all_templates() if any(isinstance(key, Code) for key in found.texts)]


@pytest.mark.parametrize("found", CODED, ids=lambda found: found.name)
def test_every_code_has_its_wording_and_every_wording_a_code(found: Templates) -> None:
    kinds = {type(key) for key in found.texts}
    assert len(kinds) == 1
    assert set(found.texts) == set(*kinds)


def test_every_wording_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = set()
    for name, texts in all_templates():
        for key, text in list(texts.items()):
            monkeypatch.setitem(texts, key, reworded(name, key, text))
            wanted |= {mark_of(name, key)} if text else set()
    said = "\n".join(all_sentences())
    assert {mark for mark in wanted if mark not in said} == set()


def test_a_template_keeps_its_figures_when_it_is_reworded() -> None:
    assert reworded("costs.X", "near", "{percent} % of {left:,}") == "⟦costs.X.near⟧ {percent} {left:,}"
    assert reworded("costs.X", "none", "") == ""
