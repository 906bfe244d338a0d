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
    CacheTooSmall,
    GatewayError,
    ProviderDown,
    QuotaExceeded,
    UnknownModel,
    Unreachable,
)
from sessions_app.gemini.mapping import (
    DAILY_HINT,
    SDK_ERRORS,
    TRANSPORT_ERRORS,
    error_of_answer,
    is_worth_retrying,
    retry_delay,
    translate,
    translated,
)

KNOWN_TEXTS = [
    (400, "Cached content is too small. total_token_count=16, min_total_token_count=1024", CacheTooSmall),
    (403, "CachedContent not found (or permission denied)", CacheGone),
    (404, "Not found: cache content metadata 8754364356910645200.", CacheGone),
    (400, "Cache content 123 is expired.", CacheGone),
    (400, "Invalid CachedContent name: 1234567890.", CacheGone),
    (400, "Cached content model does not match the model in the request.", CacheGone),
    (400, "Model used by request (models/a) and CachedContent (models/b) has to be the same.", CacheGone),
    (400, "CachedContent can not be used with GenerateContent request setting tools", BadRequest),
    (400, "API key not valid. Please pass a valid API key.", BadKey),
    (403, "Method doesn't allow unregistered callers (callers without established identity).", BadKey),
    (401, "API keys are not supported by this API.", BadKey),
    (404, "models/x is not found for API version v1beta, or is not supported.", UnknownModel),
    (404, "Publisher Model `projects/p/models/x` not found.", UnknownModel),
    (404, "Requested entity was not found.", BadRequest),
    (400, "Corrupted thought signature.", BadRequest),
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
        assert one.__name__ in mapped.message
        assert "own words" in mapped.message


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
    reached = {expected for _, _, expected in KNOWN_TEXTS} | {Unreachable, BrokenStream}
    assert reached == subclasses(errors.GatewayError) - {errors.GatewayError}


def test_the_original_does_not_travel_along() -> None:
    with pytest.raises(Unreachable) as caught, translated("k3y"):
        raise httpx2.ConnectError("k3y refused")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert caught.value.message == "The provider could not be reached: ConnectError: [API key] refused"


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), translated():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"details": [{"@type": "x"}, {"retryDelay": "21s"}]}, 21.0),
        ({"details": [{"retryDelay": "21.016s"}], "message": "Please retry in 9s."}, 21.016),
        ({"details": [{"retryDelay": "soon"}]}, None),
        ({"message": "…\nPlease retry in 48.939935699s."}, 48.939935699),
        ({"message": "Resource exhausted.", "details": "odd"}, None),
        ({}, None),
    ],
)
def test_retry_delay(error: dict[str, Any], seconds: float | None) -> None:
    assert retry_delay(error) == seconds


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
    assert error.message == "The provider answered 502 Bad Gateway."


def test_a_redirect_points_at_the_base_url() -> None:
    error = error_of_answer(302, {"message": ""})
    assert type(error) is Unreachable
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
