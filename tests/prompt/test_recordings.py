"""Real recorded responses: fold, store, restore, serialise by the SDK, and nothing is lost."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions_app.prompt.parts import decode_signature, raw_parts
from sessions_app.prompt.reply import Folder, Outcome, Reply, fold
from sessions_app.prompt.turns import restore

AUTHENTIC = {"fidelity:wire", "fidelity:parsed", "fidelity:sdk-dump"}

Exchange = dict[str, Any]


def exchanges(folder: Path) -> Iterator[Exchange]:
    for file in sorted(folder.glob("*.json")):
        for exchange in orjson.loads(file.read_bytes())["exchanges"]:
            if "enerateContent" in exchange["endpoint"]:
                yield exchange | {"name": file.stem}


def bodies(exchange: Exchange) -> list[bytes]:
    return [orjson.dumps(chunk) for chunk in exchange["response_chunks"]]


def received(exchange: Exchange) -> list[dict[str, Any]]:
    candidates = [chunk["candidates"][0] for chunk in exchange["response_chunks"] if chunk.get("candidates")]
    contents = [candidate.get("content") or {} for candidate in candidates]
    return [part for content in contents for part in content.get("parts") or []]


@pytest.fixture(scope="module")
def authentic(recordings: Path) -> list[Exchange]:
    return [
        exchange
        for exchange in exchanges(recordings)
        if exchange["status"] == 200 and AUTHENTIC & set(exchange["tags"])
    ]


def folded(exchange: Exchange) -> list[dict[str, Any]]:
    wire = fold(bodies(exchange)).wire
    return raw_parts(wire) if wire else []


def joined(parts: list[dict[str, Any]]) -> list[Any]:
    """An independent statement of the fold rule: runs of plain text of one kind become one text."""

    def kind(numbered: tuple[int, dict[str, Any]]) -> Any:
        number, part = numbered
        return bool(part.get("thought")) if part.keys() <= {"text", "thought"} else (number,)

    runs = (list(run) for _, run in groupby(enumerate(parts), kind))
    return [[part for _, part in run] for run in runs]


def test_there_are_126_authentic_successful_exchanges(authentic: list[Exchange]) -> None:
    assert len(authentic) == 126
    assert [exchange["name"] for exchange in authentic if is_cache(exchange)] == [
        "prism__use-cache-with-text-1"
    ]


def is_piece(part: dict[str, Any]) -> bool:
    return "functionCall" in part and "name" not in part["functionCall"]


def without_streaming(part: dict[str, Any]) -> dict[str, Any]:
    """A streamed call by what its opening part says; any other part as it is."""
    call = part.get("functionCall", {})
    if "willContinue" not in call:
        return part
    return part | {"functionCall": {key: value for key, value in call.items() if key != "willContinue"}}


def without_arguments(part: dict[str, Any]) -> dict[str, Any]:
    call = {key: value for key, value in part.get("functionCall", {}).items() if key != "args"}
    return part | ({"functionCall": call} if call else {})


def test_a_streamed_call_is_sent_back_as_one_part_with_its_arguments(authentic: list[Exchange]) -> None:
    streamed = [exchange for exchange in authentic if any(map(is_piece, received(exchange)))]
    assert len(streamed) == 4
    for exchange in streamed:
        calls = [part["functionCall"] for part in folded(exchange) if "functionCall" in part]
        found = fold(bodies(exchange)).calls
        assert [(call["name"], call.get("args", {})) for call in calls] == [
            (call.name, call.args) for call in found
        ]
        assert not any(call.keys() - {"id", "name", "args"} for call in calls)


def test_no_part_is_lost_and_none_is_moved(authentic: list[Exchange]) -> None:
    for exchange in authentic:
        came = received(exchange)
        runs = joined([without_streaming(part) for part in came if not is_piece(part)])
        parts = folded(exchange)
        if any(map(is_piece, came)):
            parts = [without_arguments(part) for part in parts]
        assert len(parts) == len(runs), exchange["name"]
        for part, run in zip(parts, runs, strict=True):
            expected = run[0] | {"text": "".join(each["text"] for each in run)} if len(run) > 1 else run[0]
            assert part == expected, exchange["name"]


def test_every_signature_is_verbatim_in_the_stored_content(authentic: list[Exchange]) -> None:
    found = [(received(exchange), folded(exchange)) for exchange in authentic]
    for came, kept in found:
        assert signatures(came) == signatures(kept)
    assert sum(len(signatures(came)) for came, _ in found) >= 100


def test_the_sdk_sends_back_every_part_with_equal_signature_bytes(authentic: list[Exchange]) -> None:
    for exchange in authentic:
        wire = fold(bodies(exchange)).wire
        if wire is None:
            continue
        sent = restore(wire).model_dump(mode="json", by_alias=True, exclude_none=True)
        assert [plain(part) for part in sent["parts"]] == [plain(part) for part in raw_parts(wire)]


def test_incremental_and_whole_calls_agree(recordings: Path) -> None:
    for exchange in exchanges(recordings):
        folder = Folder()
        shown = [call for body in bodies(exchange) for call in folder.add(body).calls]
        assert tuple(shown) == folder.reply().calls, exchange["name"]


def test_shown_text_is_the_stored_text(recordings: Path) -> None:
    for exchange in exchanges(recordings):
        folder = Folder()
        deltas = [delta for body in bodies(exchange) for delta in folder.add(body).deltas]
        assert "".join(text for kind, text in deltas if kind == "text") == folder.reply().text


def test_total_is_the_sum_of_its_parts(authentic: list[Exchange]) -> None:
    counted = [
        (exchange["name"], fold(bodies(exchange)).usage) for exchange in authentic if not is_cache(exchange)
    ]
    assert sum(usage.prompt > 0 for _, usage in counted) > 100
    for name, usage in counted:
        assert usage.total == usage.prompt + usage.output + usage.thoughts + usage.tool_use, name


def test_errors_and_vendor_mocks_fold_without_a_crash(recordings: Path) -> None:
    others = [exchange for exchange in exchanges(recordings) if not AUTHENTIC & set(exchange["tags"])]
    assert all(isinstance(fold(bodies(exchange)), Reply) for exchange in others)
    refused = [exchange for exchange in exchanges(recordings) if exchange["status"] >= 400]
    assert {fold(bodies(exchange)).outcome for exchange in refused} == {Outcome.FAILED}


def is_cache(exchange: Exchange) -> bool:
    """One recording has the answer of a cache creation under the label of a generate call."""
    return "cachedContents/" in str(exchange["response_chunks"][0].get("name"))


def signatures(parts: list[dict[str, Any]]) -> list[str]:
    return [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]


def plain(value: Any, key: str = "") -> Any:
    """Base64 as bytes: the SDK writes the URL-safe alphabet, the provider the standard one."""
    if isinstance(value, dict):
        return {name: plain(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return decode_signature(value) if key in ("thoughtSignature", "data") else value
