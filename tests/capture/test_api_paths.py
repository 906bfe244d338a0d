"""Which addresses of an HTTP archive are the Gemini API's."""

import pytest

from sessions_app.capture.api_paths import api_request, base_shown_by, host_url_of
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
    found = api_request(host + path)
    assert found is not None and found.base_url == host
    assert (found.path.rest, found.path.token, found.path.base) == (wanted, "", "")


@pytest.mark.parametrize("path", ["", "/", "/v1beta/models/../x", "/modelsx", "/$discovery", "/v2/models"])
def test_a_path_of_google_without_a_version_is_none(path: str) -> None:
    assert api_request(GOOGLE + path) is None


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/models", "/v1/files", "/v1/batches", "/models", "/files/logo.png", "/v1/messages"),
        *("/v1/models/gpt-9", "/v1/models/net:predict", "/v1beta/openai/chat/completions"),
    ],
)
def test_the_same_path_at_another_host_is_not_the_apis(path: str) -> None:
    assert api_request(OPENAI + path) is None


@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent", "countTokens"])
def test_a_method_of_a_model_is_the_apis_at_any_host(method: str) -> None:
    url = f"{GATEWAY}/v1beta/models/m:{method}"
    assert base_shown_by(url) == GATEWAY and api_request(url) is not None


def test_a_host_that_has_the_api_has_its_resources_too() -> None:
    assert api_request(f"{GATEWAY}/v1beta/models", {GATEWAY}) is not None
    assert api_request(f"{OPENAI}/v1beta/models", {GATEWAY}) is None
    assert api_request(f"{GATEWAY}/v1/chat/completions", {GATEWAY}) is None


VERTEX = "/v1/projects/bread-1/locations/europe-west4"
VERTEX_MODEL = f"{VERTEX}/publishers/google/models/gemini-2.5-flash"


@pytest.mark.parametrize(
    ("prefix", "path", "model"),
    [
        ("/some/prefix", ASKS, "gemini-3-flash-preview"),
        ("/v1/account/gateway/google-ai-studio", ASKS, "gemini-3-flash-preview"),
        ("/gemini", "/models/gemini-3-flash-preview:countTokens", "gemini-3-flash-preview"),
        ("/", ASKS, "gemini-3-flash-preview"),
        ("", "/v1beta/models/m%3AstreamGenerateContent", "m"),
        ("", "/v1beta/tunedModels/loaf-7:generateContent", "loaf-7"),
        ("", f"{VERTEX_MODEL}:streamGenerateContent", "gemini-2.5-flash"),
        ("", f"{VERTEX_MODEL}:computeTokens", "gemini-2.5-flash"),
        ("", "/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash"),
        ("", f"{VERTEX}/endpoints/1234567890:generateContent", "1234567890"),
        ("/vertex", f"{VERTEX_MODEL}:generateContent", "gemini-2.5-flash"),
        ("", "/v1beta/projects/p/models/m:generateContent", "m"),
    ],
)
def test_a_method_of_a_model_is_found_behind_a_prefix_and_at_vertex(
    prefix: str, path: str, model: str
) -> None:
    found = api_request(f"{GATEWAY}{prefix}{path}?alt=sse")
    assert found is not None and found.base_url == GATEWAY + prefix and found.path.model == model
    assert found.path.rest == (path if path.startswith("/v1") else f"/v1beta{path}")
    assert found.path.asks_model == path.endswith("enerateContent")


@pytest.mark.parametrize(
    "path",
    [
        "/v2/models/m:generateContent",
        "/prefix/v1internal/models/m:generateContent",
        f"{VERTEX}/publishers/google/models/text-embedding-005:predict",
        f"{VERTEX}/publishers/anthropic/models/claude:generateContent/x",
        "/v1beta/models/m:generateContent/more",
    ],
)
def test_another_version_or_method_is_none_of_the_apis(path: str) -> None:
    assert api_request(GATEWAY + path) is None


def test_what_stands_behind_the_same_prefix_is_the_apis() -> None:
    base = base_shown_by(f"{GATEWAY}/ai{ASKS}")
    assert base == f"{GATEWAY}/ai"
    found = api_request(f"{GATEWAY}/ai/v1beta/cachedContents", {base})
    assert found is not None and (found.base_url, found.path.rest) == (base, "/v1beta/cachedContents")
    assert api_request(f"{GATEWAY}/other/v1beta/cachedContents", {base}) is None
    assert api_request(f"{GATEWAY}{VERTEX}/cachedContents/12", {GATEWAY}) is not None


def test_a_long_segment_of_a_prefix_is_left_out() -> None:
    key = "sk-proxy-0123456789abcdef"
    found = api_request(f"{GATEWAY}/{key}/gemini{ASKS}")
    assert found is not None and found.base_url == f"{GATEWAY}/…/gemini"


def test_an_address_of_another_relay_is_the_apis() -> None:
    found = api_request(f"http://127.0.0.1:8000/capture/{TOKEN}/v1beta/files/x")
    assert found is not None and found.base_url == "http://127.0.0.1:8000"
    behind = api_request(f"http://127.0.0.1/lab/capture/{TOKEN}{ASKS}")
    assert behind is not None and TOKEN not in repr(behind)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        (f"{GOOGLE}{ASKS}?key=x", GOOGLE),
        ("http://name:secret@Host.example:4000/v1", "http://host.example:4000"),
        *((url, "") for url in ("data:text/plain,x", "http://[", "wss://host/ws", "", "http:///v1")),
    ],
)
def test_a_base_url_has_no_secret(url: str, wanted: str) -> None:
    assert host_url_of(url) == wanted
