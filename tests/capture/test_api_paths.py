"""Which addresses of an HTTP archive are the Gemini API's."""

import pytest

from sessions_app.capture.api_paths import api_path, base_url_of, names_model_method
from sessions_app.hosts import EMULATOR, GOOGLE

TOKEN = "abcdefghijklmnopqrst-_"
OPENAI, GATEWAY = "https://api.openai.com", "https://llm-gateway.corp.example"
ASKS = "/v1beta/models/gemini-3-flash-preview:generateContent"


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
        ("/models/m:generateContent", "/v1beta/models/m:generateContent"),
        (f"/capture/{TOKEN}/s/bread/models/m", "/v1beta/models/m"),
        ("/upload/v1beta/files", "/upload/v1beta/files"),
        ("/v1beta/openai/chat/completions", "/v1beta/openai/chat/completions"),
        *((path, path) for path in ("/v1beta/fileSearchStores", "/v1beta/corpora/x", "/v1alpha/auth_tokens")),
        ("/v1beta/dynamic/my-id:generateContent", "/v1beta/dynamic/my-id:generateContent"),
    ],
)
@pytest.mark.parametrize("host", [GOOGLE, EMULATOR])
def test_a_path_of_google_is_the_apis(path: str, wanted: str, host: str) -> None:
    found = api_path(path, host)
    assert found is not None and (found.rest, found.token, found.base) == (wanted, "", "")


@pytest.mark.parametrize("path", ["", "/", "/v1beta/models/../x", "/modelsx", "/$discovery", "/v2/models"])
def test_a_path_of_google_without_a_version_is_none(path: str) -> None:
    assert api_path(path, GOOGLE) is None


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/models", "/v1/files", "/v1/batches", "/models", "/files/logo.png", "/v1/messages"),
        *("/v1/models/gpt-9", "/v1/models/net:predict", "/v1beta/openai/chat/completions"),
    ],
)
def test_the_same_path_at_another_host_is_not_the_apis(path: str) -> None:
    assert api_path(path, OPENAI) is None


@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent", "countTokens"])
def test_a_method_of_a_model_is_the_apis_at_any_host(method: str) -> None:
    path = f"/v1beta/models/m:{method}"
    assert names_model_method(path) and api_path(path, GATEWAY) is not None


def test_a_host_that_has_the_api_has_its_resources_too() -> None:
    assert api_path("/v1beta/models", GATEWAY, {GATEWAY}) is not None
    assert api_path("/v1beta/models", OPENAI, {GATEWAY}) is None
    assert api_path("/v1/chat/completions", GATEWAY, {GATEWAY}) is None


def test_an_address_of_another_relay_is_the_apis() -> None:
    assert api_path(f"/capture/{TOKEN}/v1beta/files/x", "http://127.0.0.1:8000") is not None


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        (f"{GOOGLE}{ASKS}?key=x", GOOGLE),
        ("http://name:secret@Host.example:4000/v1", "http://host.example:4000"),
        *((url, "") for url in ("data:text/plain,x", "http://[", "wss://host/ws", "", "http:///v1")),
    ],
)
def test_a_base_url_has_no_secret(url: str, wanted: str) -> None:
    assert base_url_of(url) == wanted
