from pathlib import Path

import sessions_app.emulator
from sessions_app.conform.recordings.observations import observe
from sessions_app.conform.recordings.rate_tables import WORDS, render_forms
from sessions_app.emulator.answer_form import AnswerForm
from tests.conform.recordings.makers import calls, recording

README = Path(sessions_app.emulator.__file__).with_name("README.md").read_text()


def test_the_readme_has_a_row_for_every_property() -> None:
    assert [words for words in WORDS.values() if f"| {words} |" not in README] == []


def test_every_choice_of_a_form_has_words() -> None:
    told_otherwise = {"opening", "chunk", "signed", "restores_past_turns"}
    assert set(AnswerForm.__dataclass_fields__) - told_otherwise <= set(WORDS)


def test_what_contradicts_the_emulator_is_counted_against_it() -> None:
    table = render_forms(observe([recording("a", calls("gemini-2.5-flash", 1, 1, named=False))]))
    row = next(line for line in table.splitlines() if "chunks of their own" in line)
    assert row.endswith("| gemini-2.5-flash | 1 | 0 | 0 | 1 |")


def test_models_that_are_not_served_have_no_row() -> None:
    assert "| 1.5 |" not in render_forms(observe([recording("a", calls("gemini-1.5-pro", 1))]))
