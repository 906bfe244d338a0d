"""Where markers, columns and the line beside a quotation stand in a text from right to left."""

import pytest

from sessions_app.markup import render
from sessions_app.markup.sanitising import sanitise

SIDED = ("- {}", "1. {}", "> {}", "| {} |\n|---|\n| 1 |")


@pytest.mark.parametrize("word", ["مرحبا", "שלום", "ﻣ", "𞤀"])
@pytest.mark.parametrize("block", SIDED)
def test_a_block_with_sides_takes_its_direction_from_its_words(block: str, word: str) -> None:
    assert render(block.format(word)).count('dir="auto"') == 1


@pytest.mark.parametrize("block", SIDED)
def test_other_texts_say_nothing_of_a_direction(block: str) -> None:
    assert "dir=" not in render(block.format("“naïve” — 你好"))


def test_no_other_direction_passes() -> None:
    assert "dir=" not in sanitise('<ul dir="rtl"><li dir="auto">a</li></ul>')
    assert sanitise('<ul dir="auto"></ul>') == '<ul dir="auto"></ul>'
