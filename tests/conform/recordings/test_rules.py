"""The comparison itself: it must see a difference where there is one, and only there."""

from copy import deepcopy
from typing import Any

import pytest

from sessions_app.conform.recordings.rule_verdicts import DIFFERS, NOT_APPLICABLE, SAME, compare
from sessions_app.conform.recordings.rules import (
    Answer,
    ReturnedSteps,
    kind_of,
    newest_wording,
    restored_thoughts,
)
from sessions_app.emulator.responses import turn_token
from tests.emulator.helpers import Wire

ID = "r" * 23
USAGE = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 10, "thoughtsTokenCount": 3}


def chunk(*parts: Wire, finish: str = "", **usage: int) -> Wire:
    candidate: Wire = {"content": {"parts": list(parts), "role": "model"}}
    candidate |= {"finishReason": finish} if finish else {}
    counts = USAGE | usage
    return {
        "candidates": [candidate | {"index": 0}],
        "usageMetadata": counts,
        "modelVersion": "m",
        "responseId": ID,
    }


CALL = {"functionCall": {"name": "f", "args": {}, "id": "a"}, "thoughtSignature": "AAAA"}
STREAM = [chunk({"text": "a"}), chunk({"text": "", "thoughtSignature": "AAAA"}, finish="STOP")]
CALLS = [chunk(CALL), chunk({"functionCall": {"name": "g", "args": {}}}), chunk({"text": ""}, finish="STOP")]
ERROR = [{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}]


def differing(left: list[Wire], right: list[Wire], **options: Any) -> set[str]:
    one, other = Answer(200, tuple(left), **options), Answer(200, tuple(right))
    return {verdict.rule for verdict in compare("x", one, other) if verdict.outcome == DIFFERS}


def changed(chunks: list[Wire], index: int, **top: Any) -> list[Wire]:
    copy = deepcopy(chunks)
    copy[index] |= top
    return copy


@pytest.mark.parametrize("chunks", [STREAM, CALLS])
def test_an_answer_has_its_own_shape(chunks: list[Wire]) -> None:
    assert not differing(chunks, chunks)


def test_words_and_lengths_do_not_matter() -> None:
    longer = [chunk({"text": "b"}), chunk({"text": "c"}), STREAM[1]]
    assert not differing(STREAM, longer)


def test_what_began_on_a_day_matters_where_the_day_is_known() -> None:
    newer = changed(STREAM, 1, usageMetadata=USAGE | {"serviceTier": "standard"})
    assert differing(STREAM, newer) == {"usage fields"}
    assert not differing(STREAM, newer, is_dated=False)
    assert not differing(STREAM, changed(STREAM, 0, turnToken="v1_"), is_dated=False)


def test_an_id_of_a_call_is_a_key_like_others() -> None:
    without = deepcopy(CALLS)
    del without[0]["candidates"][0]["content"]["parts"][0]["functionCall"]["id"]
    assert differing(CALLS, without) == {"function call keys"}


def test_a_turn_token_holds_the_id_of_its_answer_twice() -> None:
    whole = [one | {"turnToken": turn_token(ID)} for one in STREAM]
    assert not differing(whole, whole)
    other = [one | {"turnToken": turn_token("another")} for one in STREAM]
    assert differing(whole, other) == {"turn tokens"}


def test_thoughts_counted_too_early_are_seen() -> None:
    thinking = {"text": "a", "thought": True}
    late, early = chunk(thinking), chunk(thinking)
    del late["usageMetadata"]["thoughtsTokenCount"]
    late["usageMetadata"]["totalTokenCount"] -= 3
    assert differing([late, *STREAM], [early, *STREAM]) == {"thoughts counted while thinking"}


def test_a_figure_with_a_fraction_is_seen() -> None:
    half = changed(STREAM, 0, usageMetadata=USAGE | {"promptTokenCount": 5.0})
    assert differing(STREAM, half) == {"whole numbers"}


def test_an_answer_without_its_names_is_compared_like_others() -> None:
    """The last chunk of an unexpected call names neither model nor answer."""
    bare = [{key: STREAM[1][key] for key in ("candidates", "usageMetadata")}]
    assert not differing(bare, bare)
    assert differing(bare, [STREAM[1]]) == {"envelope keys"}


def test_a_moved_signature_is_seen() -> None:
    moved = [chunk({"text": "a", "thoughtSignature": "AAAA"}), chunk({"text": ""}, finish="STOP")]
    assert differing(STREAM, moved) == {"signature positions"}


def test_a_signature_on_the_second_call_is_seen() -> None:
    moved = deepcopy(CALLS)
    moved[1]["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = "AAAA"
    assert differing(CALLS, moved) == {"signature positions"}


def test_calls_in_one_chunk_are_seen() -> None:
    second = CALLS[1]["candidates"][0]["content"]["parts"][0]
    assert "calls per chunk" in differing(CALLS, [chunk(CALL, second), CALLS[2]])


def test_an_early_finish_is_seen() -> None:
    assert "finish reasons" in differing(STREAM, [chunk({"text": "a"}, finish="STOP"), STREAM[1]])


def test_a_missing_tail_is_seen() -> None:
    assert "part kinds and order" in differing(CALLS, [*CALLS[:2], chunk(finish="STOP")])


def test_a_second_response_id_is_seen() -> None:
    assert differing(STREAM, changed(STREAM, 1, responseId="o" * 23)) == {"response ids"}


def test_wrong_arithmetic_is_seen() -> None:
    wrong = changed(STREAM, 1, usageMetadata=USAGE | {"totalTokenCount": 11})
    assert differing(STREAM, wrong) == {"usage adds up"}


def test_a_prompt_that_jumps_is_seen() -> None:
    jumped = changed(STREAM, 1, usageMetadata=USAGE | {"promptTokenCount": 9, "totalTokenCount": 14})
    assert differing(STREAM, jumped) == {"prompt jumps in the last chunk"}


def test_an_extra_key_is_seen() -> None:
    assert differing(STREAM, changed(STREAM, 0, turnToken="v1")) == {"envelope keys"}


def test_key_order_matters_only_where_it_was_kept() -> None:
    turned = [dict(reversed(one.items())) for one in STREAM]
    assert differing(STREAM, turned) == {"envelope keys"}
    assert not differing(STREAM, turned, keeps_order=False)


def test_an_implicit_hit_is_luck_and_an_explicit_one_is_not() -> None:
    hit = changed(STREAM, 1, usageMetadata=USAGE | {"cachedContentTokenCount": 4})
    assert not differing(STREAM, hit)
    assert differing(STREAM, hit, names_cache=True) == {"usage fields"}


def test_an_error_is_compared_in_full() -> None:
    other = deepcopy(ERROR)
    other[0]["error"]["message"] = "yes"
    found = {
        one.rule: one.outcome for one in compare("x", Answer(400, tuple(ERROR)), Answer(400, tuple(other)))
    }
    assert found["error body"] == DIFFERS and found["status"] == SAME
    assert found["signature positions"] == NOT_APPLICABLE


def test_the_newest_wording_wins() -> None:
    assert newest_wording("Call ListModels to see") == "Call ModelService.ListModels to see"


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"text": "a"}, "text"),
        ({"text": ""}, "empty text"),
        ({"text": "a", "thought": True}, "thought"),
        ({"thoughtSignature": "AAAA"}, "signature alone"),
        (CALL, "functionCall"),
    ],
)
def test_every_part_has_a_kind(part: Wire, kind: str) -> None:
    assert kind_of(part) == kind


@pytest.mark.parametrize(("jump", "is_whole"), [(34, True), (4, False), (0, False)])
def test_a_stream_restores_the_thoughts_of_all_returned_steps(jump: int, is_whole: bool) -> None:
    chunks = (chunk({"text": "a"}), chunk({"text": ""}, promptTokenCount=5 + jump))
    steps = ReturnedSteps(count=2, thoughts=34, total=9)
    assert restored_thoughts(Answer(200, chunks, returned=steps)) is is_whole


@pytest.mark.parametrize(("prompt", "steps", "verdict"), [(9, 2, True), (8, 2, False), (8, 1, None)])
def test_the_prompt_of_a_whole_answer_has_room_for_the_newest_step(
    prompt: int, steps: int, verdict: bool | None
) -> None:
    answer = (chunk({"text": "a"}, promptTokenCount=prompt),)
    returned = ReturnedSteps(count=steps, thoughts=34, total=9)
    assert restored_thoughts(Answer(200, answer, returned=returned)) is verdict
