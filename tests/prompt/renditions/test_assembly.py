import re
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.dialects.messages import (
    Block,
    CallBlock,
    Message,
    ResultBlock,
    TextBlock,
    text_message,
)
from sessions_app.prompt.layers import Layer, StaticSources
from sessions_app.prompt.renditions import assembly
from sessions_app.prompt.renditions.assembly import (
    ACKNOWLEDGED,
    FILLER_TEXT,
    MISSING_RESULT,
    REPEATED,
    UNKNOWN_TIMES,
    alternate,
    assemble_messages,
    complete_results,
    has_user_text,
    without_orphans,
)
from sessions_app.prompt.renditions.original import Original, OriginalEntry
from sessions_app.prompt.renditions.times import KnownTimes
from sessions_app.prompt.signatures import DUMMY
from sessions_app.prompt.turns import user_task
from tests.prompt.examples import answers, call, calling, layers, text
from tests.prompt.renditions.examples import CONVERSATION, EMPTY, FILES, STATIC, TODOS, original

HELLO = user_task("1", "Hello")
CUT_OFF = (calling("1", call("f", "QUJD")), answers("2", "f"))
"""A tool loop whose user text has moved into the cached history."""


def test_the_system_prompt_is_repeated_after_the_panels_and_before_the_conversation() -> None:
    told = assemble_messages(original(HELLO), repeats_system=True)
    assert told[-3:] == [
        text_message("user", REPEATED + STATIC),
        text_message("assistant", ACKNOWLEDGED),
        text_message("user", "Hello"),
    ]
    assert told[-5].answers[0].id == "panel_footer"


def test_without_panels_nothing_is_repeated() -> None:
    assert assemble_messages(original(HELLO, panels=(EMPTY,)), repeats_system=True) == [
        text_message("user", "Hello")
    ]


def test_panels_need_no_signature_where_a_text_of_the_user_follows() -> None:
    told = assemble_messages(original())
    last_call = max(at for at, one in enumerate(told) for call in one.calls if call.name == "dynamic_panel")
    assert has_user_text(told[last_call + 1 :])
    assert not any(call.signature for one in told for call in one.calls if call.name == "dynamic_panel")


def test_panels_carry_the_stand_in_where_no_text_of_the_user_follows() -> None:
    told = assemble_messages(original(*CUT_OFF))
    assert {call.signature for one in told for call in one.calls} == {DUMMY, "QUJD"}


def test_a_text_of_the_model_is_none_of_the_user() -> None:
    told = assemble_messages(original(calling("1", text("So:"), call("f", "QUJD")), answers("2", "f")))
    assert all(call.signature for one in told for call in one.calls)


def test_a_summarised_turn_is_told_as_its_summary() -> None:
    told = assemble_messages(original(*CONVERSATION), panels_as_calls=False)
    summary = told[0].blocks[-1]
    assert isinstance(summary, TextBlock) and summary.text.endswith("They spoke about flights.")


def test_the_dynamic_layer_can_be_one_message_of_the_user() -> None:
    (message,) = assemble_messages(original(HELLO), panels_as_calls=False)
    assert message.blocks == (TextBlock(original().dynamic_text), TextBlock("Hello"))


def test_a_request_without_a_dynamic_layer_has_no_message_for_it() -> None:
    entry = OriginalEntry(Layer.TRIGGER, "turn:1", HELLO.wire)
    told = assemble_messages(Original("gemini-3-flash-preview", (entry,), b"]}"), panels_as_calls=False)
    assert told == [text_message("user", "Hello")]


@pytest.mark.parametrize("value", ['""', "null", "{}"])
def test_a_panel_that_holds_nothing_is_no_call(value: str) -> None:
    told = assemble_messages(original(HELLO, panels=(f'\n"notes": {value},',)))
    assert told == [text_message("user", "Hello")]


def calls(*ids: str) -> Message:
    return Message("assistant", tuple(CallBlock(one, "f", {}) for one in ids))


def results(*ids: str) -> Message:
    return Message("user", tuple(ResultBlock(one, "f", f"result {one}") for one in ids))


def user(text: str) -> Message:
    return text_message("user", text)


def model(text: str) -> Message:
    return text_message("assistant", text)


def missing(*ids: str) -> tuple[Block, ...]:
    return tuple(ResultBlock(one, "f", MISSING_RESULT, failed=True) for one in ids)


def test_a_call_that_is_never_answered_is_not_sent() -> None:
    assert without_orphans([user("a"), calls("x"), user("b")]) == [user("a"), user("b")]


def test_the_text_beside_an_unanswered_call_is_sent() -> None:
    both = Message("assistant", (TextBlock("I look."), CallBlock("x", "f", {})))
    assert without_orphans([both, user("b")]) == [model("I look."), user("b")]


def test_one_answer_keeps_all_calls_of_the_message() -> None:
    told = [calls("x", "y"), results("x")]
    assert without_orphans(told) == told


def test_an_answer_before_its_call_does_not_count() -> None:
    assert without_orphans([results("x"), calls("x"), user("b")]) == [user("b")]


def test_answers_without_a_call_are_dropped() -> None:
    assert without_orphans([model("Hi"), results("ghost"), user("b")]) == [model("Hi"), user("b")]


def test_a_missing_answer_is_put_before_the_text() -> None:
    told = complete_results([calls("a"), user("Go on")])
    assert told == [calls("a"), Message("user", (*missing("a"), TextBlock("Go on")))]


def test_each_call_is_answered_by_its_own_message_and_strays_are_dropped() -> None:
    told = complete_results([calls("f1"), results("x"), calls("f2"), results("f1", "f2")])
    assert told == [calls("f1"), Message("user", missing("f1")), calls("f2"), results("f2")]


def test_a_call_that_an_answer_follows_gets_its_result_before_it() -> None:
    told = complete_results([calls("a"), model("Done.")])
    assert told == [calls("a"), Message("user", missing("a")), model("Done.")]


def test_a_call_at_the_end_gets_an_answer() -> None:
    both = Message("assistant", (TextBlock("I look."), CallBlock("a", "f", {})))
    assert complete_results([both]) == [both, Message("user", missing("a"))]


def test_what_is_in_order_is_left_alone() -> None:
    told = [user("a"), calls("x", "y"), results("x", "y"), model("b"), user("c")]
    assert complete_results(told) == told


def test_a_ghost_is_dropped_and_its_text_kept() -> None:
    ghost = Message("user", (ResultBlock("ghost", "f", ""), TextBlock("Hello")))
    assert complete_results([model("Hi"), ghost]) == [model("Hi"), user("Hello")]


def test_answers_stand_in_call_order() -> None:
    assert complete_results([calls("x", "y"), results("y", "x")])[1] == results("x", "y")


def test_roles_alternate_with_fillers_where_needed() -> None:
    told = alternate([calls("x"), results("x"), user("Hello"), user("World"), user("Again")])
    three = Message("user", (TextBlock("Hello"), TextBlock("World"), TextBlock("Again")))
    assert told == [user(FILLER_TEXT), calls("x"), results("x"), model(FILLER_TEXT), three]


def test_two_texts_of_the_assistant_are_one_message() -> None:
    assert alternate([user("a"), model("b"), calls("x")])[1].blocks == (
        TextBlock("b"),
        CallBlock("x", "f", {}),
    )


_ids = st.sampled_from("abcd")
_blocks = st.one_of(
    _ids.map(TextBlock),
    _ids.map(lambda one: CallBlock(one, "f", {})),
    _ids.map(lambda one: ResultBlock(one, "f", "")),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Any blocks in any order: calls are the assistant's with ids of their own, answers the user's."""
    told = []
    for position in range(draw(st.integers(0, 8))):
        blocks = draw(st.lists(_blocks, min_size=1, max_size=3))
        is_user = draw(st.booleans())
        fit = (TextBlock, ResultBlock) if is_user else (TextBlock, CallBlock)
        kept = [block for block in blocks if isinstance(block, fit)]
        named = [
            CallBlock(f"{b.id}{position}{at}", "f", {}) if isinstance(b, CallBlock) else b
            for at, b in enumerate(kept)
        ]
        told.append(Message("user" if is_user else "assistant", tuple(named)))
    return told


@given(conversations())
def test_whatever_comes_in_every_call_is_answered_at_once_and_roles_alternate(told: list[Message]) -> None:
    ordered = alternate(complete_results(without_orphans(told)))
    assert [one.role for one in ordered] == [("user", "assistant")[at % 2] for at in range(len(ordered))]
    for before, after in zip([None, *ordered], ordered, strict=False):
        asked = [call.id for call in before.calls] if before else []
        assert [answer.id for answer in after.answers] == asked
    assert not (ordered and ordered[-1].calls)


@given(conversations())
def test_putting_in_order_twice_changes_nothing_more(told: list[Message]) -> None:
    ordered = alternate(complete_results(without_orphans(told)))
    assert alternate(complete_results(without_orphans(ordered))) == ordered


EVENING = datetime(2026, 11, 20, 19, 30, tzinfo=timezone(timedelta(hours=1)))


def pairs(*panels: str, times: KnownTimes = UNKNOWN_TIMES, signature: str = "") -> list[Message]:
    return assembly.panel_messages(original(panels=panels), times, signature)


def test_a_pair_is_text_and_call_then_the_result_under_its_headline() -> None:
    asking, answering = pairs(TODOS)[:2]
    assert asking.calls == (CallBlock("panel_todos", "dynamic_panel", {"id": "todos"}),)
    content = '======= [todos] Todos =======\n[{"title":"Book a taxi","done":false}]'
    assert answering.blocks == (ResultBlock("panel_todos", "dynamic_panel", content),)


def test_the_header_of_seed_4_and_the_first_timestamp_are_one_text_block() -> None:
    first, second = (message.rest for message in pairs(FILES, TODOS)[:4:2])
    header = (
        "Beginning of dynamic panel display. All content displayed below may be considered up to date."
        "\n\nPanel automatically generated (timestamp unknown)"
    )
    assert first == (TextBlock(header),)
    assert second == (TextBlock("Panel automatically generated (timestamp unknown)"),)


def test_panels_stand_in_the_order_they_were_sent() -> None:
    asked = [call.args for message in pairs(TODOS, FILES) for call in message.calls]
    assert asked == [{"id": "todos"}, {"id": "file_references/Plan.md"}, {"action": "end_panels"}]


def test_the_call_of_a_file_has_an_id_that_other_providers_take() -> None:
    long, other = (
        f'\n"file_references/notes of {name}, as they were taken.md": "x",' for name in ("one", "two")
    )
    told = pairs(FILES, long, other)
    ids = [call.id for message in told for call in message.calls]
    assert ids == [answer.id for message in told for answer in message.answers]
    assert len(set(ids)) == 4 and all(re.fullmatch("[a-zA-Z0-9_-]{1,40}", one) for one in ids)


def test_the_headline_of_a_file_spells_its_name() -> None:
    (answer,) = pairs(FILES)[1].answers
    assert answer.content == "======= [file_references/Plan.md] File references/Plan.md =======\n# Plan"


def test_an_empty_panel_is_not_shown() -> None:
    assert pairs(EMPTY, TODOS) == pairs(TODOS)
    assert assembly.panel_count(original(panels=(EMPTY, TODOS))) == 1


def test_without_panels_there_is_neither_header_nor_footer() -> None:
    assert pairs(EMPTY) == pairs() == []


def test_the_footer_of_seed_4_has_the_times_of_the_messages_and_the_present() -> None:
    said = [("user", EVENING), ("assistant", EVENING + timedelta(minutes=3))]
    times = KnownTimes(messages=said, asked=EVENING + timedelta(hours=2))
    asking, answering = pairs(TODOS, times=times)[-2:]
    assert asking.rest == (
        TextBlock(
            "End of dynamic panel displays.\nLast message datetimes:\n"
            "  - user: 2026-11-20T18:30:00Z (2 hours ago)\n"
            "  - assistant: 2026-11-20T18:33:00Z (1 hour ago)\n"
            "Current datetime: 2026-11-20T20:30:00Z"
        ),
    )
    assert answering.answers[0].content == "Panel display complete. Proceeding with conversation."


def test_without_known_times_the_footer_says_what_gemini_was_told() -> None:
    (footer,) = pairs(TODOS)[-2].rest
    assert isinstance(footer, TextBlock)
    assert footer.text.endswith("\nCurrent datetime: 2026-11-21T09:00:00+01:00")


def test_a_panel_tells_when_it_changed() -> None:
    asking = pairs(FILES, TODOS, times=KnownTimes(panels={"todos": EVENING}))[2]
    assert asking.rest == (TextBlock("Panel automatically generated at 2026-11-20T18:30:00Z"),)


def test_a_stand_in_signature_is_on_every_call() -> None:
    signatures = {call.signature for message in pairs(TODOS, signature="c2tpcA==") for call in message.calls}
    assert signatures == {"c2tpcA=="}


EARLIER = (
    "The text part after this object is a second JSON object with the present state of things, "
    "current_datetime last. Take facts about the present (files, todos, the time) from the second JSON "
    "object, even where it is older. It stands in the second JSON object, under instructions."
)


@pytest.mark.parametrize(
    "static", [layers(static=StaticSources(purpose="x", tools=("f",))).static_text, EARLIER]
)
def test_no_text_speaks_of_a_second_json_object_that_is_not_there(static: str) -> None:
    told = assemble_messages(original(HELLO, static=static), repeats_system=True)
    texts = [block.text for one in told for block in one.blocks if isinstance(block, TextBlock)]
    assert any(text.startswith(REPEATED) for text in texts)
    assert not any("JSON" in text for text in texts)
