"""The emulator sums up what it is given."""

from typing import Any

from sessions_app.emulator import Emulator
from tests.emulator.wire import generate, text_of, user

WISH = "Write a summary of the conversation above, in a few words."
TALK = "[user]: What is it? Tell me.\n[assistant]: A chat. It is small.\ntool_call f({})\n"


def summed_up(emulator: Emulator, *texts: str) -> str:
    body: dict[str, Any] = {"contents": [user(text) for text in texts]}
    return text_of([generate(emulator, body)])


def test_each_message_becomes_its_first_sentence(emulator: Emulator) -> None:
    assert summed_up(emulator, TALK, WISH) == "- Asked: What is it?\n- Answered: A chat."


def test_a_long_talk_is_cut(emulator: Emulator) -> None:
    assert summed_up(emulator, TALK * 10, WISH).endswith("- … and 8 more.")


def test_a_talk_without_words_has_no_summary(emulator: Emulator) -> None:
    assert summed_up(emulator, "nothing of the kind", WISH) == "Nothing was said."


def test_what_is_summed_up_is_no_cue(emulator: Emulator) -> None:
    assert "What is the weather in Paris?" in summed_up(
        emulator, "[user]: What is the weather in Paris?", WISH
    )
