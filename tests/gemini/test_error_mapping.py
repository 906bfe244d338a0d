import inspect
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from google.genai import errors as sdk

from sessions_app import errors
from sessions_app.errors import (
    BadKey,
    BadRequest,
    BrokenStream,
    CacheGone,
    CacheOfOtherModel,
    CacheTooSmall,
    GatewayError,
    ProviderDown,
    QuotaExceeded,
    Redirected,
    SignatureMissing,
    SignatureRefused,
    UnknownModel,
    Unreachable,
)
from sessions_app.gemini.error_mapping import (
    DAILY_HINT,
    SDK_ERRORS,
    TRANSPORT_ERRORS,
    error_of_answer,
    is_worth_retrying,
    translate,
    translated,
)

KNOWN_TEXTS = [
    (400, "Cached content is too small. total_token_count=16, min_total_token_count=1024", CacheTooSmall),
    (403, "CachedContent not found (or permission denied)", CacheGone),
    (404, "Not found: cache content metadata 8754364356910645200.", CacheGone),
    (400, "Cache content 123 is expired.", CacheGone),
    (400, "Invalid CachedContent name: 1234567890.", CacheGone),
    (400, "Cached content model does not match the model in the request.", CacheOfOtherModel),
    (
        400,
        "Model used by request (models/a) and CachedContent (models/b) has to be the same.",
        CacheOfOtherModel,
    ),
    (400, "CachedContent can not be used with GenerateContent request setting tools", BadRequest),
    (400, "API key not valid. Please pass a valid API key.", BadKey),
    (403, "Method doesn't allow unregistered callers (callers without established identity).", BadKey),
    (401, "API keys are not supported by this API.", BadKey),
    (404, "models/x is not found for API version v1beta, or is not supported.", UnknownModel),
    (404, "Publisher Model `projects/p/models/x` not found.", UnknownModel),
    (404, "Requested entity was not found.", BadRequest),
    (400, "Corrupted thought signature.", SignatureRefused),
    (400, "Function call is missing a thought_signature in functionCall parts.", SignatureMissing),
    (429, "Resource has been exhausted (e.g. check quota).", QuotaExceeded),
    (499, "The operation was cancelled.", ProviderDown),
    (500, "An internal error has occurred.", ProviderDown),
    (503, "The model is overloaded. Please try again later.", ProviderDown),
    (418, "Short and stout.", BadRequest),
]  # fmt: skip


def answer(code: int, message: str, status: str = "", details: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": details}}


@pytest.mark.parametrize(("code", "message", "expected"), KNOWN_TEXTS)
def test_known_answers(code: int, message: str, expected: type[GatewayError]) -> None:
    error = error_of_answer(code, answer(code, message))
    assert type(error) is expected
    assert (error.message, error.code) == (message, code)
    assert error.hint


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_is_looked_for_in_both_places(code: int) -> None:
    hint = error_of_answer(code, answer(code, "No.")).hint
    assert "GEMINI_API_KEY" in hint and "/key" in hint


def subclasses(root: type[GatewayError]) -> set[type[GatewayError]]:
    return {root}.union(*map(subclasses, root.__subclasses__()))


def test_every_transport_error_is_mapped() -> None:
    classes = [one for _, one in inspect.getmembers(httpx2, inspect.isclass) if issubclass(one, Exception)]
    found = {one for one in classes if not issubclass(one, Warning)}
    assert len(found) > 20
    for one in sorted(found, key=lambda one: one.__name__):
        assert issubclass(one, TRANSPORT_ERRORS), one
        error = one.__new__(one)
        Exception.__init__(error, "own words")
        mapped = translate(error)
        assert isinstance(mapped, Unreachable | BrokenStream)
        assert mapped.message.endswith(".") and one.__name__ not in mapped.message
        assert f"({one.__name__}: own words)" in mapped.hint


@pytest.mark.parametrize(
    "name", ["ConnectError", "ReadTimeout", "ReadError", "RemoteProtocolError", "PoolTimeout"]
)
def test_a_lost_connection_is_unreachable(name: str) -> None:
    assert type(translate(getattr(httpx2, name)("reset"))) is Unreachable


def test_every_sdk_error_is_mapped() -> None:
    found = {
        one
        for _, one in inspect.getmembers(sdk, inspect.isclass)
        if issubclass(one, Exception) and not issubclass(one, Warning) and one.__module__ == sdk.__name__
    }
    assert len(found) >= 8
    for one in found:
        assert issubclass(one, SDK_ERRORS), one
        arguments = (400, answer(400, "no")) if issubclass(one, sdk.APIError) else ("no",)
        assert isinstance(translate(one(*arguments)), BadRequest | BrokenStream)


def test_every_gateway_error_can_come_out() -> None:
    reached = {expected for _, _, expected in KNOWN_TEXTS} | {Unreachable, BrokenStream, Redirected}
    # AnswerRefused: test_bounds.
    assert reached == subclasses(errors.GatewayError) - {errors.GatewayError, errors.AnswerRefused}


def test_the_original_does_not_travel_along() -> None:
    with pytest.raises(Unreachable) as caught, translated("k3y-k3y-k3y"):
        raise httpx2.ConnectError("k3y-k3y-k3y refused")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert caught.value.hint.endswith("(ConnectError: [API key] refused)")


@pytest.mark.parametrize(
    ("key", "text", "masked"),
    [
        ("x", "rate limit exceeded: Expected OAuth2", "rate limit exceeded: Expected OAuth2"),
        ("expected", "unexpectedly expected, expected1", "unexpectedly [API key], expected1"),
        ("emulator", "Bad emulator. emulators", "Bad [API key]. emulators"),
        ("AIza-0123456789-abcd", "?key%3DAIza-0123456789-abcdX", "?key%3D[API key]X"),
    ],
)
def test_a_short_key_takes_no_letters_out_of_words(key: str, text: str, masked: str) -> None:
    error = error_of_answer(429, answer(429, text, details=[{"reason": text}]), secret=key)
    assert (error.message, error.details["error"]["details"][0]["reason"]) == (masked, masked)


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), translated():
        raise ZeroDivisionError


DOCS = "https://ai.google.dev/gemini-api/docs/thought-signatures"
UNABLE = "Unable to submit request because"
WRAPPED = '{"error": {"code": 400,\n "message": "Corrupted thought signature.",\n "status": "x"}}'

REFUSALS = [
    "Corrupted thought signature.",
    "Invalid thought signature.",
    "The thought signature is invalid.",
    "Bad request:\nthought signature is not valid",
    "invalid thought_signature",
    "contents[3].parts[0].thoughtSignature is not valid",
    f"{UNABLE} Thought signature is not valid.. Learn more: {DOCS}",
    f"[gemini-cli/gemini-3-flash] [400]: {UNABLE}\n     Thought signature is not valid.. (reset after 30s)",
    "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for 'x'",
    "Unknown name \"thoughtSignature\" at 'contents[1].parts[0]': Cannot find field.",
    WRAPPED,
    "Thought signatures could not be verified",
    "The thought signature was altered.",
    "thought_signature does not match the content",
    "Thought signature verification failed.",
    "The provided thought_signature is wrong.",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "`thinking` blocks in the latest assistant message cannot be modified.",
]

MISSING = [
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work.",
    f"Function call is missing a thought_signature in functionCall parts. Please refer to {DOCS} for more.",
    "Function call `FC1` in the `1.` content block is missing a `thought_signature`.",
    f"{UNABLE} function call `f` in the 2. content block is missing a `thought_signature`. See {DOCS}",
]

UNRELATED = [
    "Request contains an invalid argument.",
    "Please ensure that function call turn comes immediately after a user turn.",
    f"Thinking level is not supported for this model. Learn more: {DOCS}",
    f"Invalid request. See {DOCS}",
    "The input token count exceeds the maximum number of tokens allowed (1048576).",
    "Invalid value at 'tools[0].name': `check_thought_signature_of` is not a name.",
    "Invalid function call signature.",
    'Invalid role in {"role":"x","parts":[{"text":"Hi","thoughtSignature":"' + "Eqo" * 40 + '"}]}',
]


@pytest.mark.parametrize("in_list", [False, True])
@pytest.mark.parametrize("code", [400, 422, None])
@pytest.mark.parametrize("message", REFUSALS)
def test_every_way_of_refusing_a_signature_is_known(message: str, code: int | None, in_list: bool) -> None:
    body = answer(code or 400, message, "INVALID_ARGUMENT")
    error = error_of_answer(code, [body] if in_list else body)
    assert type(error) is SignatureRefused
    assert not is_worth_retrying(error)


@pytest.mark.parametrize("message", MISSING)
def test_a_missing_signature_is_no_refused_one(message: str) -> None:
    assert type(error_of_answer(400, answer(400, message))) is SignatureMissing


@pytest.mark.parametrize("message", UNRELATED)
def test_other_refusals_are_not_taken_for_one_of_signatures(message: str) -> None:
    assert type(error_of_answer(400, answer(400, message))) is BadRequest


def test_the_headers_of_an_error_say_when_to_come_again() -> None:
    for code, seconds in ((429, 59.0), (503, 59.0), (400, None)):
        response = httpx2.Response(code, headers={"Retry-After": "59"})
        assert translate(sdk.APIError(code, answer(code, "no"), response)).retry_after == seconds


def test_a_quota_of_the_day_is_not_worth_retrying() -> None:
    daily = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
    error = error_of_answer(429, answer(429, "Quota.", "", [daily, {"retryDelay": "21s"}]))
    assert error.hint == DAILY_HINT
    assert not is_worth_retrying(error)


def test_what_is_worth_retrying() -> None:
    texts = {429: "limit: 20, model: m", 503: "", 500: "", 400: "", 404: ""}
    worth = {
        code for code, text in texts.items() if is_worth_retrying(error_of_answer(code, answer(code, text)))
    }
    assert worth == {429, 503, 500}
    assert is_worth_retrying(Unreachable("reset"))
    assert not is_worth_retrying(error_of_answer(429, answer(429, "limit: 0, model: m")))
    assert not is_worth_retrying(
        error_of_answer(429, answer(429, "X limit exceeded: limit=0, requested=2316"))
    )


@pytest.mark.parametrize(
    "body", [None, "", "words", 7, [], {}, {"error": None}, {"error": ["x"]}, {"error": {}}]
)
def test_bodies_in_any_shape_have_a_message(body: Any) -> None:
    error = error_of_answer(502, body)
    assert type(error) is ProviderDown
    assert error.message


def test_a_page_of_a_proxy_is_not_the_message() -> None:
    error = error_of_answer(502, {"message": "<html>…</html>", "status": "Bad Gateway"})
    assert "502 Bad Gateway" in error.message and "html" not in error.message


def test_a_redirect_points_at_the_base_url() -> None:
    error = error_of_answer(302, {"message": ""})
    assert type(error) is Redirected
    assert "GOOGLE_GEMINI_BASE_URL" in error.hint


def test_every_recorded_error_maps_with_its_own_words(recordings: Path) -> None:
    exchanges = [
        exchange
        for path in sorted(recordings.glob("*.json"))
        for exchange in orjson.loads(path.read_bytes())["exchanges"]
    ]
    seen = [type(check_recorded(one)) for one in exchanges if (one["status"] or 0) >= 400]
    assert len(seen) >= 20
    assert {BadKey, UnknownModel, QuotaExceeded, CacheGone, BadRequest} <= set(seen)


def check_recorded(exchange: dict[str, Any]) -> GatewayError:
    body = exchange["response_chunks"][0]
    error = error_of_answer(exchange["status"], body)
    assert type(error) is not GatewayError
    assert error.message == body["error"]["message"].strip()
    assert (error.code, error.status) == (exchange["status"], body["error"]["status"])
    assert (error.retry_after is not None) == ("retryDelay" in orjson.dumps(body).decode())
    return error
