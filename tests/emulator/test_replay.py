from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.replay import Recordings
from tests.emulator.helpers import (
    FLASH,
    OPENING,
    Wire,
    answers,
    call,
    generate,
    model,
    parts,
    refusal,
    send,
    stream,
    text_of,
    user,
)

SIGNATURE = "RnJvbSBhIHJlYWwgbW9kZWw="


def reply(*found: Wire, finish: str = "STOP") -> Wire:
    candidate = {"content": {"parts": list(found), "role": "model"}, "finishReason": finish, "index": 0}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}, "responseId": "a"}


def exchange(request: Wire, *chunks: Wire, status: int = 200) -> Wire:
    endpoint = "streamGenerateContent" if len(chunks) > 1 else "generateContent"
    told = {"model_requested": FLASH, "endpoint": endpoint, "status": status}
    return told | {"request": request, "response_chunks": list(chunks)}


ASKED = [user("why is the sky blue?")]
CALLED = call("look_up", SIGNATURE, word="sky")
DONE = [*ASKED, model(CALLED), answers(("look_up", {"found": "blue"}))]
SLOW = {"error": {"code": 429, "message": "Slow", "status": "X"}}
EXCHANGES = [
    exchange({"contents": ASKED}, reply(CALLED)),
    exchange({"contents": DONE}, reply({"text": "Rayleigh"}), reply({"text": " scattering"})),
    exchange(
        {"contents": [user("too fast")]},
        {"error": {"code": 429, "message": "Slow", "status": "X"}},
        status=429,
    ),
    exchange({"unheard": "of"}, reply({"text": "no"})),
    {"endpoint": "cachedContents.post", "request": None, "status": 200, "response_chunks": []},
]


@pytest.fixture
def replaying(tmp_path: Path) -> Emulator:
    (tmp_path / "sky.json").write_bytes(orjson.dumps({"exchanges": EXCHANGES}))
    return Emulator(delay=0, recordings=tmp_path)


def test_a_recorded_request_gets_the_recorded_answer(replaying: Emulator) -> None:
    assert stream(replaying, {"contents": ASKED}) == [reply(CALLED)]
    assert generate(replaying, {"contents": ASKED}) == reply(CALLED)


def test_the_round_counts_and_a_recorded_signature_may_return(replaying: Emulator) -> None:
    assert text_of(stream(replaying, {"contents": DONE})) == "Rayleigh scattering"


def test_what_stands_before_the_text_does_not_matter(replaying: Emulator) -> None:
    layers = [user("static", "dynamic"), user("an older question"), model({"text": "an answer"})]
    assert stream(replaying, {"contents": [*layers, *ASKED]}) == [reply(CALLED)]


def test_a_recorded_stream_is_not_told_whole(replaying: Emulator) -> None:
    assert "look_up" in text_of([generate(replaying, {"contents": DONE})])


def test_a_recorded_refusal_is_a_refusal(replaying: Emulator) -> None:
    assert refusal(replaying, {"contents": [user("too fast")]}) == "Slow"


def test_a_fault_strikes_a_recording_too(replaying: Emulator) -> None:
    path, triggered = f"models/{FLASH}:streamGenerateContent", {"x-emulator-fault": "wire done"}
    _, body = send(replaying, "POST", path, {"contents": ASKED}, headers=triggered, alt="sse")
    assert b"look_up" in body and body.endswith(b"data: [DONE]\r\n\r\n")


def test_anything_else_is_played(replaying: Emulator) -> None:
    assert OPENING in text_of([generate(replaying, {"contents": [user("hello")]})])


def test_a_folder_of_real_traffic_can_be_served(recordings: Path) -> None:
    found = Recordings(recordings)
    assert len(found) > 60 and len(found.signatures) > 40
    replaying = Emulator(delay=0, recordings=recordings)
    body: dict[str, Any] = {"contents": [user("What is 5 + 3?")]}
    assert parts(generate(replaying, body))[-1]["text"] == "5 + 3 = 8"


@pytest.mark.parametrize(
    "damaged",
    [
        b"[1]",
        b'{"exchanges": null}',
        b'{"exchanges": [7]}',
        orjson.dumps({"exchanges": [exchange({"contents": ASKED}, {"error": "down"}, status=503)]}),
        orjson.dumps({"exchanges": [EXCHANGES[0] | {"response_chunks": ["torn"]}]}),
    ],
)
def test_what_is_damaged_is_left_out(tmp_path: Path, damaged: bytes) -> None:
    (tmp_path / "a.json").write_bytes(damaged)
    (tmp_path / "sky.json").write_bytes(orjson.dumps({"exchanges": EXCHANGES}))
    assert len(Recordings(tmp_path)) == 3


def test_a_signature_that_is_no_base64_is_played_and_not_accepted(tmp_path: Path) -> None:
    answer = reply({"text": "blue", "thoughtSignature": "torn!"})
    (tmp_path / "a.json").write_bytes(orjson.dumps({"exchanges": [exchange({"contents": ASKED}, answer)]}))
    assert not Recordings(tmp_path).signatures
    assert generate(Emulator(delay=0, recordings=tmp_path), {"contents": ASKED}) == answer


def test_numbers_of_enums_and_missing_counts_are_read_by_every_endpoint(tmp_path: Path) -> None:
    """Recorded from a client that asked for numbers, and from Vertex, whose first chunks count nothing."""
    counts = {"promptTokenCount": 1, "promptTokensDetails": [{"modality": 1, "tokenCount": 1}]}
    first = {"candidates": [{"content": {"parts": [{"text": "bl"}]}}], "usageMetadata": {"trafficType": 1}}
    last = {"candidates": [{"content": {"parts": [{"text": "ue"}]}, "finishReason": 1}]}
    told = exchange({"contents": ASKED}, first, {"responseId": "a"}, last | {"usageMetadata": counts})
    (tmp_path / "a.json").write_bytes(orjson.dumps({"exchanges": [told]}))
    replaying = Emulator(delay=0, recordings=tmp_path)
    asked = {"model": FLASH, "stream": True, "input": "why is the sky blue?"}
    said = {**asked, "messages": [{"role": "user", "content": asked["input"]}]}
    del said["input"]
    told_by = {"authorization": "Bearer k"}
    status, body = send(replaying, "POST", "openai/chat/completions", said, headers=told_by)
    assert status == 200 and b'"finish_reason":"stop"' in body
    status, body = send(replaying, "POST", "interactions", asked)
    assert status == 200 and b'"status":"completed"' in body and b'"modality":"text"' in body
