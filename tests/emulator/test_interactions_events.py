"""The streams of interactions: order of events, resumption, faults."""

import orjson
import pytest

from sessions_app.emulator import Emulator
from tests.emulator.helpers import FLASH, Wire, send
from tests.emulator.interaction_helpers import (
    DONE,
    FLIGHT,
    TOOLS,
    WEATHER,
    create,
    events,
    found,
    kinds,
    replay,
    stream,
)

BEGINNING = ["interaction.created", "interaction.status_update"]


def deltas(read: list[Wire], index: int) -> list[Wire]:
    return [event["delta"] for event in read if "delta" in event and event["index"] == index]


def test_the_events_are_in_the_documented_order(emulator: Emulator) -> None:
    read = stream(emulator, "hello", generation_config={"thinking_summaries": "auto"})
    name = read[0]["interaction"]["id"]
    assert kinds(read)[:2] == BEGINNING and kinds(read)[-1] == "interaction.completed"
    assert read[0]["interaction"] == {
        "id": name,
        "status": "in_progress",
        "object": "interaction",
        "model": FLASH,
    }
    assert (read[1]["interaction_id"], read[1]["status"]) == (name, "in_progress")
    assert [event["step"] for event in read if "step" in event] == [
        {"type": "thought"},
        {"type": "model_output"},
    ]
    assert [delta["type"] for delta in deltas(read, 0)] == ["thought_summary", "thought_signature"]
    assert {delta["type"] for delta in deltas(read, 1)} == {"text"} and len(deltas(read, 1)) > 1
    ends = [position for position, kind in enumerate(kinds(read)) if kind == "step.stop"]
    assert len(ends) == 2 and kinds(read)[ends[0] + 1] == "step.start"
    assert not any("event_id" in event for event in read)


def test_the_last_event_sums_up_without_steps(emulator: Emulator) -> None:
    last = stream(emulator, "hello")[-1]["interaction"]
    assert list(last) == [
        *("id", "status", "usage", "created", "updated", "service_tier"),
        *("object", "model"),
    ]
    assert last["usage"]["total_tokens"] == sum(
        last["usage"][f"total_{kind}_tokens"] for kind in ("input", "output", "thought")
    )


def test_a_stream_tells_what_is_stored(emulator: Emulator) -> None:
    read = stream(emulator, "hello", generation_config={"thinking_summaries": "auto"})
    _, thought, output = found(emulator, read[0]["interaction"]["id"])["steps"]
    assert output["content"][0]["text"] == "".join(delta["text"] for delta in deltas(read, 1))
    *summaries, signature = deltas(read, 0)
    assert thought["signature"] == signature["signature"]
    assert thought["summary"] == [delta["content"] for delta in summaries]


@pytest.mark.parametrize(("command", "pieces"), [("", 1), (" /partial", 2)])
def test_arguments_are_pieces_of_a_json_text(emulator: Emulator, command: str, pieces: int) -> None:
    read = stream(emulator, FLIGHT + command, tools=TOOLS)
    start = next(event["step"] for event in read if event.get("step", {}).get("type") == "function_call")
    assert start["arguments"] == {} and start["name"] == "check_flight" and start["id"]
    told = deltas(read, 1)
    assert len(told) == pieces and {delta["type"] for delta in told} == {"arguments_delta"}
    assert orjson.loads("".join(delta["arguments"] for delta in told)) == {"flight": "AA100"}
    assert read[-1]["interaction"]["status"] == "requires_action"


def test_parallel_calls_have_an_index_each(emulator: Emulator) -> None:
    read = stream(emulator, WEATHER, tools=TOOLS)
    starts = [(event["index"], event["step"]["type"]) for event in read if "step" in event]
    assert starts == [(0, "thought"), (1, "function_call"), (2, "function_call")]


def test_a_stored_stream_goes_on_behind_an_event(emulator: Emulator) -> None:
    made = create(emulator, "hello")
    whole = replay(emulator, made["id"])
    assert kinds(whole)[:2] == BEGINNING and len({event["event_id"] for event in whole}) == len(whole)
    for position, event in enumerate(whole[:-1]):
        assert replay(emulator, made["id"], last_event_id=event["event_id"]) == whole[position + 1 :]


def test_a_background_stream_names_its_events(emulator: Emulator) -> None:
    read = stream(emulator, "hello", background=True)
    assert read == replay(emulator, read[0]["interaction"]["id"])
    assert all("event_id" in event for event in read)


@pytest.mark.parametrize("query", [{"stream": "true", "last_event_id": "none"}, {"last_event_id": "x_1"}])
def test_a_wrong_place_to_resume_is_refused(emulator: Emulator, query: Wire) -> None:
    error = found(emulator, create(emulator, "hello")["id"], **query)["error"]
    assert error["code"] == "invalid_request"


def test_an_error_in_mid_stream_is_an_event(emulator: Emulator) -> None:
    read = stream(emulator, "hello /wire failing")
    assert kinds(read) == [*BEGINNING, "error"] and read[-1]["error"]["code"] == "api_error"
    assert kinds(stream(emulator, "hello /wire first")) == ["error"]


def test_a_stopped_generation_has_its_code_before_the_end(emulator: Emulator) -> None:
    read = stream(emulator, "hello /safety")
    assert kinds(read)[-2:] == ["error", "interaction.completed"]
    assert read[-2]["error"]["code"] == "safety" and read[-1]["interaction"]["status"] == "failed"


def test_a_stream_without_an_end_does_not_complete(emulator: Emulator) -> None:
    body = {"model": FLASH, "input": "hello /nofinish", "stream": True}
    raw = send(emulator, "POST", "interactions", body)[1]
    assert not raw.endswith(DONE) and kinds(events(raw + DONE))[-1] == "step.stop"


def test_an_error_before_the_stream_is_no_stream(emulator: Emulator) -> None:
    status, raw = send(emulator, "POST", "interactions", {"model": "none", "input": "x", "stream": True})
    assert (status, orjson.loads(raw)["error"]["code"]) == (404, "model_not_found")
