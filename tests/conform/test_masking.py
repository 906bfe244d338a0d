"""A report can be given away: no key, no account data."""

from pathlib import Path

import httpx2
import orjson
import pytest

from sessions_app.conform.masking import Mask
from tests.conform.helpers import KEY, Provider, bench, chosen

OWN = Mask((KEY,), frozenset({"pipeweb conform 0123456789ab", "models/gemini-x"}))
OTHER_KEY = "AIza" + "SyD4-EXAMPLE_key_of_somebody_else_01"
PLANTED = {
    "a key in use": KEY,
    "another key": OTHER_KEY,
    "a key of the new kind": "AQ.Ab8RN6Example-Key_0123456789",
    "a token": "ya29.a0AfExampleToken-1234567890",
    "an address of a person": "jane.doe+test@example.org",
    "a service account": "robot@some-project-123.iam.gserviceaccount.com",
    "a project": "some-project-123",
    "a project's number": "482901736455",
    "an address": "203.0.113.77",
    "an address of IPv6": "2001:db8:85a3:0:0:8a2e:370:7334",
}
SENTENCE = (
    "Generative Language API has not been used in project 482901736455 before or it is disabled. "
    "Visit https://console.example.com/apis?project=482901736455 or projects/some-project-123/keys, sign in "
    "as jane.doe+test@example.org (robot@some-project-123.iam.gserviceaccount.com) from 203.0.113.77 or "
    f"2001:db8:85a3:0:0:8a2e:370:7334 with {KEY}, {OTHER_KEY}, "
    "AQ.Ab8RN6Example-Key_0123456789 or ya29.a0AfExampleToken-1234567890."
)


def is_clean(text: str) -> bool:
    return not [name for name, planted in PLANTED.items() if planted in text]


def test_what_names_an_account_is_replaced_in_any_text() -> None:
    assert is_clean(OWN.text(SENTENCE)) and "has not been used in project" in OWN.text(SENTENCE)


@pytest.mark.parametrize("key", ["consumer", "project_id", "projectNumber", "userEmail", "billingAccount"])
def test_what_stands_under_a_name_of_an_account_is_replaced(key: str) -> None:
    masked = OWN.text(orjson.dumps({"error": {"metadata": {key: 'an "odd" name', "service": "x"}}}).decode())
    assert orjson.loads(masked) == {"error": {"metadata": {key: "[account]", "service": "x"}}}


@pytest.mark.parametrize(
    "text",
    [
        '{"candidates": [{"content": {"role": "user", "parts": [{"text": "a project of mine"}]}}]}',
        '{"createTime": "2026-09-07T01:18:17.438678Z", "expireTime": "2026-09-07T02:18:17.023637828Z"}',
        '{"error": {"message": "limit: 1000000, model: gemini-3.5-flash\\nPlease retry in 48.939935699s."}}',
        '{"text": "It was 01:18:17, version 3.4.0."}',
        '{"a": 12345678901}',
    ],
)
def test_the_rest_of_a_body_stays_byte_for_byte(text: str) -> None:
    assert OWN.text(text) == text


def test_a_masked_body_still_parses() -> None:
    body = {"error": {"message": SENTENCE, "details": [{"metadata": {"consumer": "projects/482901736455"}}]}}
    masked = orjson.loads(OWN.text(orjson.dumps(body).decode()))
    assert list(masked["error"]) == ["message", "details"] and is_clean(str(masked))


def test_opaque_bytes_are_cut_to_length_and_hash() -> None:
    one, other = ("A" * 100 + end for end in ("==", "B="))
    masked = [OWN.text(f'{{"thoughtSignature": "{text}"}}') for text in (one, other, one)]
    assert masked[0] == masked[2] != masked[1]
    assert "102 characters" in masked[0] and "AAAA" not in masked[0]


def test_a_short_key_eats_no_letters() -> None:
    assert Mask(("x",), frozenset()).text("exceeded x") == "exceeded [API key]"


def test_of_a_list_only_our_own_entries_stay() -> None:
    listed = {
        "cachedContents": [
            {"name": "cachedContents/abc", "displayName": "plans of the merger"},
            {"name": "cachedContents/def", "displayName": "pipeweb conform 0123456789ab"},
        ],
        "nextPageToken": "t",
    }
    kept = orjson.loads(OWN.body("GET", "/v1beta/cachedContents", orjson.dumps(listed)))
    assert kept == {
        "cachedContents": [
            {"name": "cachedContents/[name]", "displayName": "pipeweb conform 0123456789ab"},
        ]
    }


async def test_nothing_planted_in_answers_or_headers_reaches_the_file(tmp_path: Path) -> None:
    """Every answer of a whole run says it, as an error, in a stream and in its headers."""
    count = [0]

    def leak(request: httpx2.Request) -> httpx2.Response:
        count[0] += 1
        headers = {f"x-planted-{number}": value for number, value in enumerate(PLANTED.values())}
        headers["retry-after"] = "1"
        if count[0] % 3 == 0:
            return httpx2.Response(503, headers=headers, text=f"<html>{SENTENCE}</html>")
        if count[0] % 3 == 1:
            metadata = {"consumer": "projects/some-project-123", "containerInfo": "482901736455"}
            error = {"code": 400, "message": SENTENCE, "details": [{"metadata": metadata}]}
            return httpx2.Response(400, headers=headers, json={"error": error})
        event = {"candidates": [{"content": {"parts": [{"text": SENTENCE}]}, "finishReason": "STOP"}]}
        headers["content-type"] = "text/event-stream"
        return httpx2.Response(
            200, headers=headers, stream=httpx2.ByteStream(b"data: " + orjson.dumps(event) + b"\r\n\r\n")
        )

    made = bench(Provider(leak))
    report = await made.run.run()
    report.write(tmp_path / "report.json")
    written = (tmp_path / "report.json").read_text()
    assert count[0] > 20 and written.count("[account]") > 40
    assert [name for name, planted in PLANTED.items() if planted in written] == []


async def test_an_error_that_ends_the_run_is_masked_too() -> None:
    made = bench(
        Provider(lambda request: httpx2.ConnectError(f"no way for {KEY} to jane.doe+test@example.org"))
    )
    made.run.chosen = chosen("limits")
    report = await made.run.run()
    assert report.stopped_by and is_clean(report.model_dump_json())
