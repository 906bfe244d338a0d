"""What an address is followed by, and what of it is stored."""

import pytest

from sessions_app.capture.paths import is_relayed, relay_path, without_secrets

TOKEN = "abcdefghijklmnopqrst-_"


def rest(path: str) -> str:
    found = relay_path(f"/capture/{TOKEN}{path}".encode())
    assert found is not None and found.token == TOKEN
    return found.rest


@pytest.mark.parametrize(
    "path", ["", "/", "addresses/", "short/v1beta/models", f"{TOKEN}x/v1beta", f"x{TOKEN}/a"]
)
def test_pages_of_capture_are_not_relayed(path: str) -> None:
    assert not is_relayed(f"/capture/{path}".encode())


@pytest.mark.parametrize("path", ["/", f"/captures/{TOKEN}/v1", f"/x/capture/{TOKEN}/v1"])
def test_other_pages_are_not_relayed(path: str) -> None:
    assert not is_relayed(path.encode()) and relay_path(path.encode()) is None


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/v1/models", "/v1/models"),
        ("/v1alpha/models/m:generateContent", "/v1alpha/models/m:generateContent"),
        ("/models/m:generateContent", "/v1beta/models/m:generateContent"),
        ("/upload/files", "/upload/v1beta/files"),
        ("/interactions", "/v1beta/interactions"),
        ("/s/bread/v1beta/files/x", "/v1beta/files/x"),
        ("/v1beta/models/a%2Fb", "/v1beta/models/a%2Fb"),
        ("//v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
        ("/s/bread//models/m:generateContent", "/v1beta/models/m:generateContent"),
        ("//upload/files", "/upload/v1beta/files"),
    ],
)
def test_a_version_that_is_missing_is_added_and_nothing_else_changed(path: str, wanted: str) -> None:
    assert rest(path) == wanted


@pytest.mark.parametrize("path", ["/v2/models", "/v1betamax/x", "/etc/passwd", "/v1beta/..", "/v1/%2E%2E/x"])
def test_what_is_no_path_of_the_api_is_known_as_such(path: str) -> None:
    found = relay_path(f"/capture/{TOKEN}{path}".encode())
    assert found is not None and not found.is_known


def test_secrets_of_a_query_are_not_stored() -> None:
    query = "alt=sse&key=AIza&access_token=ya29&upload_id=x&monkey=1"
    assert without_secrets(query) == "alt=sse&key=…&access_token=…&upload_id=…&monkey=1"


@pytest.mark.parametrize("colon", [":", "%3A", "%3a"])
def test_a_quoted_colon_asks_the_same_model(colon: str) -> None:
    """The provider and the server's key take it for a colon, so budgets have to."""
    found = relay_path(f"/capture/{TOKEN}/v1beta/models/m{colon}generateContent".encode())
    assert found is not None and found.asks_model and found.model == "m"
    assert found.may_use_server_key("POST")
