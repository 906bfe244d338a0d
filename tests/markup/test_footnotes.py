"""Footnotes: references, notes, and ids that occur once on a page."""

import re

import pytest

from sessions_app.markup import Blocks, render

NOTED = "A fact[^1], and again[^1].\n\n[^1]: The *note*\n\n    goes on\n\nafter it\n"


def ids(html: str) -> list[str]:
    return re.findall(r' id="([^"]*)"', html)


def test_a_reference_leads_to_its_note_and_back() -> None:
    html = render(NOTED, "a-")
    assert ids(html) == ["a-noted-1", "a-note-1"]
    assert html.count('href="#a-note-1"') == 2 and html.count('href="#a-noted-1"') == 1
    assert '<div class="note-text"><p>The <em>note</em></p>\n<p>goes on</p>' in html
    assert html.endswith("</div></div>\n<p>after it</p>\n")


def test_a_second_note_with_the_same_label_has_no_id() -> None:
    assert ids(render("[^1]: one\n\n[^1]: two\n")) == ["note-1"]


def test_answers_have_ids_of_their_own() -> None:
    assert not set(ids(render(NOTED, "a-"))) & set(ids(render(NOTED, "b-")))


@pytest.mark.parametrize(
    ("text", "is_reference"),
    [("[^1]", True), ("[^note-2]", True), ("[^a-z]", False), ("[^0-9]", False), ("[^a-z0]", False)],
)
def test_without_a_note_only_a_number_refers_to_one(text: str, is_reference: bool) -> None:
    assert ("<sup" in render(f"word {text} word")) is is_reference


def test_a_name_refers_to_a_note_that_is_there() -> None:
    assert 'href="#note-why"' in render("[^why]: since\n\nword[^why]\n")


def test_code_and_formulas_hold_no_reference() -> None:
    assert "<sup" not in render("`[^1]`\n\n    [^1]\n\n```\n[^1]: code\n```\n")


def test_a_link_of_the_page_stays_in_its_window() -> None:
    html = render(f"{NOTED} [out](https://a.b)")
    assert html.count('target="_blank"') == 1
    assert '<a href="https://a.b" target="_blank" rel="noopener nofollow ugc">' in html


def test_an_open_note_is_formatted_and_leaves_its_id_to_the_closed_one() -> None:
    writing = Blocks("a-")
    writing.feed("A fact[^1].\n\n[^1]: A **note** that is still being written")
    shown = "".join(piece.html for piece in writing.preview())
    assert 'class="note" id="a-note-1"' in shown and "<strong>note</strong>" in shown
    assert 'id="a-note-1"' in "".join(piece.html for piece in writing.close())


def test_many_nested_notes_end_somewhere() -> None:
    assert render("[^1]: " * 5_000).count("<div") < 200
