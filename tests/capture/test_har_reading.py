"""An HTTP archive becomes records: as they were, in the order of time, without secrets."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.capture.har_reading import REQUESTS, Ignored, Importer, ReadHar, read_har
from sessions_app.capture.records import Begun, Ended
from sessions_app.error_codes import CaptureFault, HarProblem
from sessions_app.errors import HarRefused
from sessions_app.wording import har as wording
from tests.capture.conversations import body_of, model
from tests.capture.har_files import (
    ANSWER,
    BEGAN,
    FIRST,
    GOOGLE,
    SECOND,
    STREAM,
    archive,
    devtools_entry,
    mitmproxy_entry,
)

OWNER = Importer(address=7, owner=3, secret="s")


def read(*entries: dict[str, Any]) -> ReadHar:
    return read_har(archive(*entries), OWNER)


def both(found: ReadHar) -> tuple[Begun, Ended]:
    begun, ended = found.records
    assert isinstance(begun, Begun) and isinstance(ended, Ended)
    return begun, ended


def test_an_entry_of_developer_tools_is_a_captured_request() -> None:
    begun, ended = both(read(devtools_entry()))
    assert (begun.address, begun.owner, begun.received_at) == (7, 3, BEGAN)
    assert (begun.method, begun.path, begun.model) == ("POST", STREAM, "gemini-3-flash-preview")
    assert begun.asks_model and begun.body == body_of([FIRST]) and begun.size == len(begun.body)
    assert begun.scope == "Mozilla loaf-page"
    assert (ended.key, ended.status, ended.content_type) == (begun.key, 200, "text/event-stream")
    assert ended.body == ANSWER and ended.size == len(ANSWER) and not ended.is_cut
    assert (ended.first_ms, ended.total_ms) == (120.5, 480.5)
    assert ended.ended_at == BEGAN + timedelta(milliseconds=480.5)


def test_an_entry_of_mitmproxy_is_a_captured_request() -> None:
    begun, ended = both(read(mitmproxy_entry(body_of([FIRST]))))
    assert begun.body == body_of([FIRST]) and begun.client == "google-genai-sdk/1.75"
    assert begun.path == "/v1beta/models/gemini-3-flash-preview:generateContent?key=…"
    assert b"Half an hour." in ended.body and ended.content_type.startswith("application/json")


@pytest.mark.parametrize("entry", [devtools_entry(), mitmproxy_entry(body_of([FIRST]))])
def test_no_secret_is_taken(entry: dict[str, Any]) -> None:
    assert "secret" not in repr(read(entry).records)


def test_a_token_of_another_relay_is_left_out_and_its_session_kept() -> None:
    token = "a" * 22
    url = f"http://127.0.0.1:8000/capture/{token}/s/ovens/models/m:generateContent"
    begun, _ = both(read(mitmproxy_entry(body_of([FIRST]), url=url)))
    assert (begun.path, begun.name, begun.model) == ("/v1beta/models/m:generateContent", "ovens", "m")
    assert token not in repr(begun)


def test_a_header_that_no_longer_holds_is_left_out() -> None:
    _, ended = both(read(devtools_entry()))
    assert ended.headers == [["content-type", "text/event-stream"]]


def test_what_is_not_the_api_is_counted_by_the_reason() -> None:
    unsent = devtools_entry()
    del unsent["request"]["postData"]
    elsewhere = ("https://example.org/v1/messages", "https://example.org/", "data:text/plain,x", "http://[")
    found = read(
        *(mitmproxy_entry(b"", url=url) for url in elsewhere),
        mitmproxy_entry(b"", url=f"{GOOGLE}/v1beta/models/../../x"),
        mitmproxy_entry(b"", method="OPTIONS"),
        unsent,
        devtools_entry(),
    )
    assert found.requests == 1
    assert found.ignored == {Ignored.OTHER_ADDRESS: 5, Ignored.METHOD: 1, Ignored.NO_BODY: 1}


def test_an_upload_is_listed_without_its_body() -> None:
    begun, ended = both(read(mitmproxy_entry(b"file", url=f"{GOOGLE}/upload/v1beta/files?upload_id=secret")))
    assert (begun.body, begun.size, ended.request_size) == (None, 0, 4)
    assert begun.path == "/upload/v1beta/files?upload_id=…"


def test_a_request_that_nobody_answered() -> None:
    entry = devtools_entry(time=-1)
    entry["response"] |= {"status": 0, "content": {"size": 0, "mimeType": "x-unknown"}}
    begun, ended = both(read(entry))
    assert (ended.status, ended.fault, ended.is_cut) == (None, CaptureFault.NOT_IN_FILE, False)
    assert (ended.total_ms, ended.first_ms, ended.ended_at) == (None, None, begun.received_at)


def test_an_answer_that_is_not_in_the_file_counts_as_cut() -> None:
    entry = devtools_entry()
    del entry["response"]["content"]["text"]
    _, ended = both(read(entry))
    assert ended.is_cut and ended.body == b""


@pytest.mark.parametrize("member", ["_failureText", "_error"])
def test_an_answer_that_broke_off_behind_its_head_is_cut(member: str) -> None:
    entry = devtools_entry()
    entry["response"] |= {member: "net::ERR_ABORTED", "content": {"size": -1, "text": ""}}
    _, ended = both(read(entry))
    assert ended.is_cut and (ended.status, ended.fault) == (200, "")


BESIDE: list[dict[str, Any]] = [{"_file": "ad1a85.json"}, {}]
"""Playwright's modes `attach` and `omit`."""


@pytest.mark.parametrize("beside", BESIDE)
def test_a_body_beside_the_file_is_not_an_empty_one(beside: dict[str, Any]) -> None:
    entry = devtools_entry()
    for text in ({}, {"text": ""}):
        entry["response"]["content"] = {"size": 4_988, "mimeType": "text/event-stream"} | text | beside
        _, ended = both(read(entry))
        assert ended.is_cut and ended.body == b""
    entry["request"]["postData"] = {"mimeType": "application/json", "text": "", "params": []} | beside
    assert read(entry, devtools_entry()).ignored == {Ignored.NO_BODY: 1}


def test_a_body_that_is_empty_is_kept_as_such() -> None:
    entry = devtools_entry(b"")
    entry["response"]["content"] = {"size": 0, "text": ""}
    begun, ended = both(read(entry))
    assert begun.body == b"" and not ended.is_cut


def test_a_request_keeps_the_host_that_it_went_to() -> None:
    url = "http://name:secret@gateway.example:4000/v1beta/models/m:generateContent"
    begun, ended = both(read(mitmproxy_entry(body_of([FIRST]), url=url)))
    assert begun.base_url == ended.base_url == "http://gateway.example:4000"


def test_requests_to_other_services_are_left_out() -> None:
    urls = ("https://api.openai.com/v1/models", "https://www.example.com/models", f"{GOOGLE}/v1beta/corpora")
    gateway = "http://gateway.example/v1beta/models"
    found = read(
        *(mitmproxy_entry(b"", url=url) for url in (*urls, gateway)),
        mitmproxy_entry(body_of([FIRST]), url=f"{gateway}/m:generateContent"),
    )
    assert (found.requests, found.ignored) == (3, {Ignored.OTHER_ADDRESS: 2})


def test_packets_are_taken_where_they_make_up_the_answer() -> None:
    for sizes, is_taken in (([10, len(ANSWER) - 10], True), ([10], False), ([-10, len(ANSWER) + 10], False)):
        entry = devtools_entry()
        entry["response"]["_packets"] = [[20.5 * at, size] for at, size in enumerate(sizes)]
        _, ended = both(read(entry))
        assert ended.packets == ([(0, 10), (20.5, len(ANSWER) - 10)] if is_taken else [])


@given(st.permutations(range(5)))
def test_records_come_in_the_order_of_time(order: list[int]) -> None:
    contents = [[FIRST, *[model("So."), SECOND] * turn] for turn in range(5)]
    entries = [devtools_entry(body_of(one), at=at) for at, one in enumerate(contents)]
    found = read(*(entries[at] for at in order)).records
    assert [one.body for one in found if isinstance(one, Begun)] == [body_of(one) for one in contents]
    kinds = [type(one).__name__ for one in found]
    assert kinds == ["Begun", "Ended"] * 5


def test_requests_at_the_same_time_overlap() -> None:
    found = read(devtools_entry(), devtools_entry(at=0.1)).records
    assert [type(one).__name__ for one in found] == ["Begun", "Begun", "Ended", "Ended"]


@pytest.mark.parametrize(("gap", "overlaps"), [(0.4797, False), (0.4785, True)])
def test_a_beginning_that_was_rounded_down_stands_behind_the_end(gap: float, overlaps: bool) -> None:
    """The first one lasts 480.5 ms."""
    found = read(devtools_entry(), devtools_entry(at=gap)).records
    assert [type(one).__name__ for one in found[:2]] == ["Begun", "Begun" if overlaps else "Ended"]


def without(*steps: str) -> bytes:
    entry = devtools_entry()
    inner: Any = entry
    for step in steps[:-1]:
        inner = inner[step]
    del inner[steps[-1]]
    return archive(devtools_entry(), entry)


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    entry = devtools_entry()
    change(entry)
    return archive(entry)


WRONG: dict[str, tuple[bytes, str]] = {
    "no log": (b"{}", "log"),
    "a list": (b"[]", "log"),
    "no entries": (json.dumps({"log": {"version": "1.2"}}).encode(), "log.entries"),
    "no address": (without("request", "url"), "log.entries[1].request.url"),
    "no time": (without("startedDateTime"), "log.entries[1].startedDateTime"),
    "a time without a zone": (
        changed(lambda entry: entry.update(startedDateTime="2026-11-02T09:30:00")),
        "log.entries[0].startedDateTime",
    ),
    "a status in words": (
        changed(lambda entry: entry["response"].update(status="OK")),
        "log.entries[0].response.status",
    ),
    "a time that no database takes": (
        changed(lambda entry: entry.update(startedDateTime="9999-12-31T23:59:59-14:00")),
        "log.entries[0].startedDateTime",
    ),
    "a status that no answer has": (
        changed(lambda entry: entry["response"].update(status=2**63)),
        "log.entries[0].response.status",
    ),
    "a body that is no text": (
        changed(lambda entry: entry["request"]["postData"].update(text=[1])),
        "log.entries[0].request.postData.text",
    ),
}


@pytest.mark.parametrize(
    "lacks",
    [
        *({name: None} for name in ("response", "time", "timings", "startedDateTime")),
        {"response": {"status": None}},
        {"response": {"status": "OK"}},
        {"request": {"url": "wss://example.org/live", "method": "x" * 50, "headers": {}}},
    ],
)
def test_what_goes_elsewhere_need_not_be_whole(lacks: dict[str, Any]) -> None:
    found = read(mitmproxy_entry(b"", url="https://example.org/") | lacks, devtools_entry())
    assert (found.requests, found.ignored) == (1, {Ignored.OTHER_ADDRESS: 1})


@pytest.mark.parametrize("member", ["time", "timings", "response"])
def test_a_member_that_is_null_counts_as_absent(member: str) -> None:
    begun, ended = both(read(devtools_entry() | {member: None}))
    assert begun.body == body_of([FIRST]) and ended.first_ms is None
    assert (ended.fault, ended.status) == (("", 200) if member != "response" else ("not_in_file", None))


def test_null_and_numbers_are_taken_for_texts_of_headers() -> None:
    entry = devtools_entry()
    entry["request"]["headers"] = [{"name": "user-agent", "value": 7}, {"name": "x", "value": None}]
    entry["response"]["headers"] = None
    begun, ended = both(read(entry))
    assert begun.client == "7" and ended.headers == [] and ended.body == ANSWER


def test_base64_may_stand_in_lines() -> None:
    entry = devtools_entry()
    text = entry["response"]["content"]["text"]
    entry["response"]["content"]["text"] = f"{text[:76]}\r\n{text[76:]}\n"
    assert both(read(entry))[1].body == ANSWER


@pytest.mark.parametrize("encoding", ["BASE64", "Base64"])
def test_the_name_of_an_encoding_may_be_written_in_capitals(encoding: str) -> None:
    entry = devtools_entry()
    entry["response"]["content"]["encoding"] = encoding
    assert both(read(entry))[1].body == ANSWER


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_archive_is_refused_with_its_place(name: str) -> None:
    body, where = WRONG[name]
    with pytest.raises(HarRefused) as refused:
        read_har(body, OWNER)
    assert (refused.value.reason, refused.value.figures["where"]) == (HarProblem.WRONG, where)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(HarRefused) as refused:
        read_har(body, OWNER)
    assert refused.value.reason is HarProblem.NOT_JSON and refused.value.figures["problem"]


def test_a_body_that_is_no_base64_is_refused_with_its_place() -> None:
    broken = changed(lambda entry: entry["response"]["content"].update(text="not base64!"))
    with pytest.raises(HarRefused) as refused:
        read_har(broken, OWNER)
    assert refused.value.figures == {"where": "log.entries[0].response.content"}


def test_a_file_with_too_many_requests_is_refused() -> None:
    entries = [mitmproxy_entry(b"{}", at=at) for at in range(REQUESTS)]
    assert read(*entries, mitmproxy_entry(b"", url="https://example.org/")).requests == REQUESTS
    with pytest.raises(HarRefused) as refused:
        read(*entries, devtools_entry())
    assert (refused.value.reason, refused.value.figures["limit"]) == (HarProblem.TOO_MANY, REQUESTS)


def test_a_file_without_a_request_to_the_api_is_refused() -> None:
    with pytest.raises(HarRefused) as refused:
        read(mitmproxy_entry(b"", url="https://example.org/"))
    assert (refused.value.reason, refused.value.figures) == (HarProblem.NOTHING, {"entries": 1})


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text() | st.floats(), st.lists).map(
        lambda value: json.dumps({"log": {"entries": value}}).encode()
    )
)
def test_nothing_but_a_refusal_comes_of_odd_files(body: bytes) -> None:
    with pytest.raises(HarRefused) as refused:
        read_har(body, OWNER)
    assert wording.problem(refused.value.reason, refused.value.figures).startswith(("The file", "Nothing"))
