"""Which earlier answers a recorded request returns, and what they counted."""

from sessions_app.conform.recordings.returned_steps import StepLedger
from sessions_app.conform.recordings.rules import Answer, ReturnedSteps
from tests.emulator.helpers import Wire, answers, call, model, user

FIRST, SECOND = "+/8=", "BBBB"
ASKED: list[Wire] = [user("hello"), model(call("f", "-_8")), answers(("f", {}))]
"""The first signature comes back in the other alphabet."""


def ledger() -> StepLedger:
    found = StepLedger()
    for signature, thoughts in ((FIRST, 30), (SECOND, 4)):
        usage = {"promptTokenCount": 5, "thoughtsTokenCount": thoughts, "totalTokenCount": 5 + thoughts}
        parts = [{"functionCall": {"name": "f"}, "thoughtSignature": signature}]
        found.remember(
            Answer(200, ({"candidates": [{"content": {"parts": parts}}], "usageMetadata": usage},))
        )
    return found


def test_a_turn_has_the_thoughts_of_all_its_steps_and_the_count_of_the_newest() -> None:
    both = [*ASKED, model(call("f", SECOND)), answers(("f", {}))]
    assert ledger().returned({"contents": both}) == ReturnedSteps(count=2, thoughts=34, total=9)


def test_past_turns_and_steps_of_another_conversation_say_nothing() -> None:
    assert ledger().returned({"contents": [*ASKED, model({"text": "Done."}), user("next")]}) is None
    assert ledger().returned({"contents": [*ASKED, model(call("f", "CCCC")), answers(("f", {}))]}) is None
    assert ledger().returned({"contents": [user("hello")]}) is None
