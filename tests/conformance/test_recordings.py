"""The emulator beside real Gemini traffic, rule by rule."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from sessions_app.emulator import Emulator, framing
from tests.conformance.comparison import DIFFERS, SAME, Verdict, skipped
from tests.conformance.playback import script_of
from tests.conformance.rules import RULES, parts_of
from tests.emulator.helpers import Wire, declare, stream, user

PARTIAL = (
    "ai__google-stream-tool-call-arguments-chunks",
    "ai__google-stream-no-args-tool-call-chunks",
)


@pytest.mark.parametrize("rule", RULES)
def test_the_emulator_answers_as_recorded(verdicts: list[Verdict], rule: str) -> None:
    found = [verdict for verdict in verdicts if verdict.rule == rule]
    assert [verdict for verdict in found if verdict.outcome == DIFFERS] == []
    assert SAME in {verdict.outcome for verdict in found}


def test_every_recorded_byte_is_framed_alike(recordings: Path) -> None:
    """Our writer, given the recorded objects, writes the recorded bytes."""
    compared = [pair for path in sorted(recordings.glob("*.json")) for pair in _written_and_received(path)]
    assert [pair for pair in compared if pair[0] != pair[1]] == []
    assert len(compared) >= 55


def _written_and_received(path: Path) -> Iterator[tuple[bytes, bytes]]:
    for exchange in orjson.loads(path.read_bytes())["exchanges"]:
        tags, chunks = exchange["tags"], exchange["response_chunks"]
        raw = (exchange.get("raw_sse") or exchange.get("raw_body") or "").encode()
        is_true = "fidelity:wire" in tags and not {"vertex", "trimmed"} & set(tags)
        if not raw or not is_true or (raw.startswith(b"data:") and b"\r\n" not in raw):
            continue  # a text file whose line ends were converted is no witness
        events = raw.startswith(b"data:")
        written = b"".join(framing.events(chunks)) if events else framing.pretty(chunks[0])
        yield written.rstrip(), raw.rstrip()


def test_enough_was_compared(verdicts: list[Verdict]) -> None:
    assert len({verdict.exchange for verdict in verdicts}) >= 70


def test_what_is_left_out_has_a_reason(recordings: Path) -> None:
    assert sum(skipped(recordings).values()) <= 105


@pytest.mark.parametrize("name", PARTIAL)
def test_partial_arguments_look_as_recorded(recordings: Path, name: str) -> None:
    """They were recorded on Vertex: the calls are compared, not the envelope."""
    theirs = orjson.loads((recordings / f"{name}.json").read_bytes())["exchanges"][0]["response_chunks"]
    script = script_of([_with_whole_calls(theirs)])
    body: Wire = {
        "contents": [user("recorded")],
        "tools": declare(**{ask.name: [] for ask in script.calls}),
        "toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}},
    }
    ours = stream(Emulator(delay=0, play=lambda _: script), body)
    assert _pieces(ours) == _pieces(theirs)


def _pieces(chunks: list[Wire]) -> list[object]:
    """The functionCall pieces in order, without ids, and which of them are signed."""
    parts = [part for chunk in chunks for part in parts_of(chunk) if "functionCall" in part]
    return [(_without_id(part["functionCall"]), "thoughtSignature" in part) for part in parts]


def _without_id(call: Wire) -> Wire:
    return {key: value for key, value in call.items() if key != "id"}


def _with_whole_calls(chunks: list[Wire]) -> Wire:
    """One chunk with the calls put together again; the arguments here are all strings at the top."""
    calls: list[Wire] = []
    for call in (
        part["functionCall"] for chunk in chunks for part in parts_of(chunk) if "functionCall" in part
    ):
        if "name" in call:
            calls.append({"name": call["name"], "args": {}})
        for value in call.get("partialArgs", ()):
            key = value["jsonPath"].removeprefix("$.")
            calls[-1]["args"][key] = calls[-1]["args"].get(key, "") + value["stringValue"]
    return {"candidates": [{"content": {"parts": [{"functionCall": call} for call in calls]}}]}
