"""The oracles of the reference, B4 (orphans), B6 and B9 (alternation, adjacency)."""

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.renditions.blocks import Answered, Block, Called, Message, Text, said
from sessions_app.prompt.renditions.order import FILLER, NO_RESULT, alternate, repair, without_orphans


def calls(*ids: str) -> Message:
    return Message("assistant", tuple(Called(one, "f", {}) for one in ids))


def results(*ids: str) -> Message:
    return Message("user", tuple(Answered(one, "f", f"result {one}") for one in ids))


def user(text: str) -> Message:
    return said("user", text)


def model(text: str) -> Message:
    return said("assistant", text)


def missing(*ids: str) -> tuple[Block, ...]:
    return tuple(Answered(one, "f", NO_RESULT, failed=True) for one in ids)


def test_a_call_that_is_never_answered_is_not_sent() -> None:
    assert without_orphans([user("a"), calls("x"), user("b")]) == [user("a"), user("b")]


def test_the_text_beside_an_unanswered_call_is_sent() -> None:
    both = Message("assistant", (Text("I look."), Called("x", "f", {})))
    assert without_orphans([both, user("b")]) == [model("I look."), user("b")]


def test_one_answer_keeps_all_calls_of_the_message() -> None:
    told = [calls("x", "y"), results("x")]
    assert without_orphans(told) == told


def test_an_answer_before_its_call_does_not_count() -> None:
    assert without_orphans([results("x"), calls("x"), user("b")]) == [user("b")]


def test_answers_without_a_call_are_dropped() -> None:
    assert without_orphans([model("Hi"), results("ghost"), user("b")]) == [model("Hi"), user("b")]


def test_a_missing_answer_is_put_before_the_text() -> None:
    told = repair([calls("a"), user("Go on")])
    assert told == [calls("a"), Message("user", (*missing("a"), Text("Go on")))]


def test_each_call_is_answered_by_its_own_message_and_strays_are_dropped() -> None:
    told = repair([calls("f1"), results("x"), calls("f2"), results("f1", "f2")])
    assert told == [calls("f1"), Message("user", missing("f1")), calls("f2"), results("f2")]


def test_a_call_at_the_end_gets_an_answer() -> None:
    both = Message("assistant", (Text("I look."), Called("a", "f", {})))
    assert repair([both]) == [both, Message("user", missing("a"))]


def test_what_is_in_order_is_left_alone() -> None:
    told = [user("a"), calls("x", "y"), results("x", "y"), model("b"), user("c")]
    assert repair(told) == told


def test_a_ghost_is_dropped_and_its_text_kept() -> None:
    ghost = Message("user", (Answered("ghost", "f", ""), Text("Hello")))
    assert repair([model("Hi"), ghost]) == [model("Hi"), user("Hello")]


def test_answers_stand_in_call_order() -> None:
    assert repair([calls("x", "y"), results("y", "x")])[1] == results("x", "y")


def test_roles_alternate_with_fillers_where_needed() -> None:
    told = alternate([calls("x"), results("x"), user("Hello"), user("World"), user("Again")])
    three = Message("user", (Text("Hello"), Text("World"), Text("Again")))
    assert told == [user(FILLER), calls("x"), results("x"), model(FILLER), three]


def test_two_texts_of_the_assistant_are_one_message() -> None:
    assert alternate([user("a"), model("b"), calls("x")])[1].blocks == (Text("b"), Called("x", "f", {}))


_ids = st.sampled_from("abcd")
_blocks = st.one_of(
    _ids.map(Text), _ids.map(lambda one: Called(one, "f", {})), _ids.map(lambda one: Answered(one, "f", ""))
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Any blocks in any order: calls are the assistant's with ids of their own, answers the user's."""
    told = []
    for position in range(draw(st.integers(0, 8))):
        blocks = draw(st.lists(_blocks, min_size=1, max_size=3))
        is_user = draw(st.booleans())
        fit = (Text, Answered) if is_user else (Text, Called)
        kept = [block for block in blocks if isinstance(block, fit)]
        named = [
            Called(f"{b.id}{position}{at}", "f", {}) if isinstance(b, Called) else b
            for at, b in enumerate(kept)
        ]
        told.append(Message("user" if is_user else "assistant", tuple(named)))
    return told


@given(conversations())
def test_whatever_comes_in_every_call_is_answered_at_once_and_roles_alternate(told: list[Message]) -> None:
    ordered = alternate(repair(without_orphans(told)))
    assert [one.role for one in ordered] == [("user", "assistant")[at % 2] for at in range(len(ordered))]
    for before, after in zip([None, *ordered], ordered, strict=False):
        asked = [call.id for call in before.calls] if before else []
        assert [answer.id for answer in after.answers] == asked
    assert not (ordered and ordered[-1].calls)


@given(conversations())
def test_putting_in_order_twice_changes_nothing_more(told: list[Message]) -> None:
    ordered = alternate(repair(without_orphans(told)))
    assert alternate(repair(without_orphans(ordered))) == ordered
