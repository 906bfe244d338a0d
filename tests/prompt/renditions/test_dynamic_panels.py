"""Panels as calls: the oracles of the reference, B4 to B6."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sessions_app.prompt.renditions import dynamic_panels
from sessions_app.prompt.renditions.blocks import Answered, Called, Message, Text
from tests.prompt.renditions.examples import EMPTY, FILES, TODOS, original

EVENING = datetime(2026, 11, 20, 19, 30, tzinfo=timezone(timedelta(hours=1)))


def pairs(*panels: str, changed: dict[str, datetime] | None = None, signature: str = "") -> list[Message]:
    return dynamic_panels.pairs(original(panels=panels), changed or {}, signature)


def test_a_pair_is_text_and_call_then_the_result_under_its_headline() -> None:
    asking, answering = pairs(TODOS)[:2]
    assert asking.calls == (Called("panel_todos", "dynamic_panel", {"id": "todos"}),)
    content = '======= [todos] Todos =======\n[{"title":"Book a taxi","done":false}]'
    assert answering.blocks == (Answered("panel_todos", "dynamic_panel", content),)


def test_the_header_and_the_first_timestamp_are_one_text_block() -> None:
    first, second = (message.rest for message in pairs(FILES, TODOS)[:4:2])
    assert len(first) == 1 and isinstance(first[0], Text)
    assert first[0].text.startswith(dynamic_panels.HEADER + "\n\nPanel automatically generated")
    assert second == (Text("Panel automatically generated (timestamp unknown)"),)


def test_panels_stand_in_the_order_they_were_sent() -> None:
    asked = [call.args for message in pairs(TODOS, FILES) for call in message.calls]
    assert asked == [{"id": "todos"}, {"id": "file_references"}, {"action": "end_panels"}]


def test_an_empty_panel_is_not_shown() -> None:
    assert pairs(EMPTY, TODOS) == pairs(TODOS)
    assert dynamic_panels.count(original(panels=(EMPTY, TODOS))) == 1


def test_without_panels_there_is_neither_header_nor_footer() -> None:
    assert pairs(EMPTY) == pairs() == []


def test_the_footer_has_the_date_and_no_time() -> None:
    asking, answering = pairs(TODOS)[-2:]
    assert asking.rest == (Text("End of the dynamic panel display. Date: 2026-11-21"),)
    assert answering.answers[0].content == "Panel display complete. Proceeding with conversation."


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (EVENING, "at 2026-11-20T18:30:00Z"),
        (datetime(2020, 1, 1, tzinfo=UTC), "at 2020-01-01T00:00:00Z"),
        (datetime(2019, 12, 31, tzinfo=UTC), "(timestamp unknown)"),
        (None, "(timestamp unknown)"),
    ],
)
def test_a_time_is_utc_and_one_before_2020_is_unknown(changed: datetime | None, words: str) -> None:
    assert dynamic_panels.generated_at(changed) == f"Panel automatically generated {words}"


def test_a_stand_in_signature_is_on_every_call() -> None:
    signatures = {call.signature for message in pairs(TODOS, signature="c2tpcA==") for call in message.calls}
    assert signatures == {"c2tpcA=="}
