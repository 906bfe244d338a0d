"""`bench people`, short: the log has what five people did, and the oracle notices what it has not."""

from collections import Counter

import pytest

from tests.bench.people import Drill, aims, hold
from tests.bench.people_acts import PERSONS, Entry, Opened, Person, Scene

TWO_ROUNDS = 10
"""Acts of a person, of which the second question of one is refused."""

ENTRY = Entry("signed_in", "root", "user", "1")


@pytest.mark.slow
def test_what_five_people_did_is_in_the_log_and_nothing_foreign_was_read() -> None:
    drill = hold(0, least=TWO_ROUNDS)
    assert [aim.line for aim in aims(drill) if aim.is_missed] == []
    assert {entry.actor for entry in drill.expected} >= set(PERSONS) - {""}
    assert drill.seen["readings seen"] and drill.seen["rounds of tries"] and drill.seen["refused answers"]


@pytest.mark.parametrize(
    ("expected", "logged", "missed"),
    [
        ([ENTRY], [ENTRY], []),
        ([ENTRY, ENTRY], [ENTRY], ["of them missing"]),
        ([ENTRY], [ENTRY, ENTRY._replace(said="{1}")], ["entries of what nobody did"]),
    ],
)
def test_an_entry_too_few_or_too_many_is_noticed(
    expected: list[Entry], logged: list[Entry], missed: list[str]
) -> None:
    seen = Counter({"read with a reason": 1})
    drill = Drill(Counter(expected), Counter(logged), [], [], seen)
    assert [aim.name for aim in aims(drill) if aim.is_missed] == missed


def test_a_text_of_others_is_foreign_unless_it_was_opened() -> None:
    person = Person("spent", Scene({}, {}, {}, 1), 1, Opened())
    person.check("/s/", "<p>mark-spent</p>")
    person.check("/s/", "<p>mark-root</p>")
    assert len(person.foreign) == 1 and person.seen["own texts read"] == 1
    person.granted.add("root")
    person.check("/s/", "<p>mark-root</p>")
    assert len(person.foreign) == 1 and person.seen["read with a reason"] == 1
