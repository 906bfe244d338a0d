"""Why: each rule is reached by a request, and the journal shows what was decided."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.decisions import CacheState, Decision, Rule
from sessions_app.emulator.http import ApiRequest
from sessions_app.emulator.slash_commands import parse_faults
from tests.emulator.asking import LONG, OTHER, STATIC, ask, create, post, saying
from tests.emulator.clock import Clock
from tests.emulator.helpers import FLASH, Wire, answers, call, model, send, user
from tests.emulator.test_journal import look


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def emulator(clock: Clock) -> Emulator:
    return Emulator(delay=0, clock=clock)


def config(**values: Any) -> Wire:
    return saying(generationConfig=values)


def file_part(name: str) -> Wire:
    return {"fileData": {"fileUri": f"http://localhost/v1beta/files/{name}"}}


HISTORY = [user("calculate 1+1"), model(call("calculate", "AAAA")), answers(("calculate", {"result": 2}))]
UNSIGNED = [user("calculate 1+1"), model(call("calculate")), answers(("calculate", {"result": 2}))]
GENERATE = f"models/{FLASH}:generateContent"

REFUSED: dict[Rule, tuple[int, str, Any]] = {
    Rule.FAULT: (503, GENERATE, saying("/error 503")),
    Rule.ROUTE_UNKNOWN: (404, "nowhere", {}),
    Rule.MODEL_UNKNOWN: (404, "models/gemini-none:generateContent", saying()),
    Rule.JSON_UNREADABLE: (400, GENERATE, b"{"),
    Rule.FIELD_UNKNOWN: (400, GENERATE, saying(thunder=1)),
    Rule.VALUE_INVALID: (400, GENERATE, saying(generationConfig=3)),
    Rule.CONTENTS_MISSING: (400, GENERATE, {}),
    Rule.ROLE_UNKNOWN: (400, GENERATE, {"contents": [{**user("hello"), "role": "ghost"}]}),
    Rule.PARTS_MISSING: (400, GENERATE, {"contents": [{"role": "user", "parts": []}]}),
    Rule.PART_EMPTY: (400, GENERATE, {"contents": [{"role": "user", "parts": [{}]}]}),
    Rule.TOOL_EMPTY: (400, GENERATE, saying(tools=[{}])),
    Rule.RESPONSE_WITHOUT_CALL: (400, GENERATE, {"contents": [user("hello"), HISTORY[2]]}),
    Rule.CALL_OUT_OF_PLACE: (400, GENERATE, {"contents": HISTORY[1:]}),
    Rule.CALLS_UNANSWERED: (400, GENERATE, {"contents": [*HISTORY[:2], user("and?")]}),
    Rule.SIGNATURE_MISSING: (400, GENERATE, {"contents": UNSIGNED}),
    Rule.SIGNATURE_REFUSED: (400, GENERATE, {"contents": HISTORY}),
    Rule.CONTINUATION_UNKNOWN: (400, GENERATE, saying(continuationToken="AAAA")),
    Rule.PROMPT_TOO_LONG: (400, GENERATE, saying("word " * 800_000)),
    Rule.THINKING_UNSUPPORTED: (400, GENERATE, config(thinkingConfig={"thinkingLevel": "DEEP"})),
    Rule.SAMPLING_UNSUPPORTED: (400, GENERATE, config(temperature=3)),
    Rule.FUNCTIONS_UNSUPPORTED: (
        400,
        GENERATE,
        saying(toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
    ),
    Rule.CACHE_GONE: (403, GENERATE, saying(cachedContent="cachedContents/none")),
    Rule.CACHE_TOO_SMALL: (400, "cachedContents", {"model": FLASH, **saying()}),
    Rule.CACHE_EXPIRY_INVALID: (400, "cachedContents", {"model": FLASH, "ttl": "soon", **saying(STATIC)}),
    Rule.FILE_GONE: (
        403,
        GENERATE,
        {"contents": [{"role": "user", "parts": [file_part("no")]}]},
    ),
    Rule.INTERACTION_GONE: (
        404,
        "interactions",
        {"model": FLASH, "input": "and?", "previous_interaction_id": "none"},
    ),
    Rule.UNIMPLEMENTED: (501, "interactions", {"model": FLASH, "input": "hi", "webhook_config": {}}),
}
"""One request that each refusal refuses, with its status."""


@pytest.mark.parametrize("rule", REFUSED)
def test_a_refusal_names_its_rule(emulator: Emulator, rule: Rule) -> None:
    status, path, body = REFUSED[rule]
    seen, decision = post(emulator, path, body)
    assert (seen, decision.rule) == (status, rule)


def missing_key(emulator: Emulator) -> tuple[int, Decision]:
    return ask(emulator, saying(), key="")


def invalid_key(emulator: Emulator) -> tuple[int, Decision]:
    return ask(emulator, saying(), key="invalid")


def unknown_fault(emulator: Emulator) -> tuple[int, Decision]:
    return ask(emulator, saying(), fault="thunder")


def beside_a_cache(emulator: Emulator) -> tuple[int, Decision]:
    return ask(emulator, saying(cachedContent=create(emulator), systemInstruction=user("Be kind.")))


def cache_of_another_model(emulator: Emulator) -> tuple[int, Decision]:
    return ask(emulator, saying(cachedContent=create(emulator)), OTHER)


def unpaid_cache(emulator: Emulator) -> tuple[int, Decision]:
    return post(emulator, "cachedContents", {"model": FLASH, **saying(STATIC)}, key="free")


def video_at_once(emulator: Emulator) -> tuple[int, Decision]:
    start = {"x-goog-upload-command": "start"}
    upload = {"x-goog-upload-command": "upload, finalize"}
    metadata = {"file": {"name": "files/film", "mimeType": "video/mp4"}}
    send_upload(emulator, metadata, start)
    query = next(iter(emulator.files._uploads))
    send_upload(emulator, b"film", upload, query)
    return ask(emulator, {"contents": [{"role": "user", "parts": [file_part("film")]}]})


def send_upload(emulator: Emulator, body: Any, headers: dict[str, str], upload_id: str = "") -> int:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    query = {"upload_id": upload_id} if upload_id else {}
    headers = {"x-goog-api-key": "emulator", **headers}
    return emulator.handle(ApiRequest("POST", "/upload/v1beta/files", query, headers, data)).status


def bad_upload(emulator: Emulator) -> tuple[int, Decision]:
    status = send_upload(emulator, {}, {"x-goog-upload-command": "juggle"})
    return status, emulator.journal.last.decision


PREPARED: dict[Rule, tuple[int, Callable[[Emulator], tuple[int, Decision]]]] = {
    Rule.KEY_MISSING: (403, missing_key),
    Rule.KEY_INVALID: (400, invalid_key),
    Rule.FAULT_UNKNOWN: (400, unknown_fault),
    Rule.CACHE_BESIDE_FIELDS: (400, beside_a_cache),
    Rule.CACHE_OF_OTHER_MODEL: (400, cache_of_another_model),
    Rule.CACHE_NOT_PAID: (429, unpaid_cache),
    Rule.FILE_NOT_READY: (400, video_at_once),
    Rule.UPLOAD_INVALID: (400, bad_upload),
}


@pytest.mark.parametrize("rule", PREPARED)
def test_a_refusal_that_needs_more_than_a_request_names_its_rule(emulator: Emulator, rule: Rule) -> None:
    status, refused = PREPARED[rule]
    seen, decision = refused(emulator)
    assert (seen, decision.rule) == (status, rule)


ANSWERED = {
    Rule.SERVED,
    Rule.RECORDED,
    Rule.EXPLICIT_HIT,
    Rule.IMPLICIT_HIT,
    Rule.NOTHING_HELD,
    Rule.BELOW_MINIMUM,
    Rule.HIT_WITHHELD,
}


def test_every_rule_is_reached_by_a_test() -> None:
    assert set(Rule) == ANSWERED | set(REFUSED) | set(PREPARED)
    assert {rule for rule in Rule if rule.is_hit or rule.is_miss} == ANSWERED - {Rule.SERVED, Rule.RECORDED}


def test_answers_name_what_was_held(emulator: Emulator) -> None:
    rules = [ask(emulator, body)[1].rule for body in (saying(), saying(), saying(LONG), saying(LONG))]
    assert rules == [Rule.NOTHING_HELD, Rule.BELOW_MINIMUM, Rule.NOTHING_HELD, Rule.IMPLICIT_HIT]
    status, decision = ask(emulator, saying(LONG), fault="miss")
    assert (status, decision.rule, decision.cached, decision.faults) == (200, Rule.HIT_WITHHELD, 0, ["miss"])
    assert decision.prefix and decision.prefix.bytes == len(LONG)


def test_a_refused_request_was_never_read(emulator: Emulator) -> None:
    assert ask(emulator, saying(LONG), fault="ratelimit")[0] == 429
    assert ask(emulator, saying(LONG))[1].rule is Rule.NOTHING_HELD


def test_other_requests_are_served(emulator: Emulator) -> None:
    assert post(emulator, f"models/{FLASH}:countTokens", saying())[1].rule is Rule.SERVED


def test_a_recorded_answer_says_so_even_where_it_is_an_error(tmp_path: Path, clock: Clock) -> None:
    error = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Not now."}}
    exchanges: list[Wire] = [
        {"request": saying(text), "endpoint": "generateContent", "response_chunks": [chunk]}
        for text, chunk in (("well", {"candidates": []}), ("ill", error))
    ]
    (tmp_path / "one.json").write_bytes(orjson.dumps({"exchanges": exchanges}))
    emulator = Emulator(delay=0, clock=clock, recordings=tmp_path)
    seen = [ask(emulator, saying(text)) for text in ("well", "ill")]
    assert [(status, decision.rule) for status, decision in seen] == [
        (200, Rule.RECORDED),
        (429, Rule.RECORDED),
    ]


def test_a_decision_has_the_emulators_clock(emulator: Emulator, clock: Clock) -> None:
    clock.pass_seconds(90)
    assert ask(emulator, saying())[1].at == clock.now


def test_a_cache_that_would_have_fitted_is_named(emulator: Emulator, clock: Clock) -> None:
    """The request begins with what the cache holds."""
    fitting, other, gone = create(emulator), create(emulator, OTHER), create(emulator)
    create(emulator, text=STATIC + "!")
    send(emulator, "DELETE", gone)
    clock.pass_seconds(1)
    _, decision = ask(emulator, {"contents": [user(STATIC), user("hello")]})
    assert {(found.name, found.state, found.is_other_model) for found in decision.caches} == {
        (fitting, CacheState.LIVE, False),
        (other, CacheState.LIVE, True),
        (gone, CacheState.DELETED, False),
    }
    assert not any(found.is_named for found in decision.caches)


def test_a_name_that_nobody_gave_is_unknown(emulator: Emulator) -> None:
    (finding,) = ask(emulator, saying(cachedContent="none"))[1].caches
    assert (finding.name, finding.state) == ("cachedContents/none", CacheState.UNKNOWN)


def test_the_journal_shows_the_decision_as_json_and_on_its_page(emulator: Emulator) -> None:
    ask(emulator, saying(LONG))
    ask(emulator, saying(LONG, cachedContent=create(emulator)))
    explicit, _, implicit = orjson.loads(look(emulator, "/_emulator.json")[1])["requests"]
    assert explicit["decision"]["rule"] == "explicit_hit"
    assert explicit["decision"]["caches"][0]["state"] == "live"
    assert implicit["decision"]["prefix"]["minimum"] == 4_096
    assert implicit["decision"]["at"] == "2026-01-02T03:04:05+00:00"
    assert "explicit_hit" in look(emulator, "/_emulator")[1]


PRODUCT = [
    path
    for folder in ("pipeweb", "sessions_app")
    for path in (Path(__file__).parents[2] / folder).rglob("*")
    if path.suffix in {".py", ".html", ".js"}
    and not {"emulator", "conform"} & set(path.relative_to(Path(__file__).parents[2]).parts)
]
READERS = ("/_emulator", ".journal", "emulator.journal", "emulator.decisions")


def test_nothing_of_the_product_reads_the_journal() -> None:
    assert len(PRODUCT) > 200
    assert not [path for path in PRODUCT if any(word in path.read_text() for word in READERS)]


def test_a_seed_decides_the_same_again(clock: Clock) -> None:
    faults = parse_faults("miss; p=0.5; seed=4, miscount; p=0.5; seed=4")

    def decided() -> list[dict[str, Any]]:
        emulator = Emulator(delay=0, clock=clock, faults=faults)
        return [ask(emulator, saying(LONG))[1].describe() for _ in range(20)]

    assert decided() == decided()
