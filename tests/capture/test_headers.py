"""Headers that pass, that are stored, and what they say of the program."""

import pytest

from sessions_app.capture.headers import kept, scope_of, to_client, to_provider

UPSTREAM, RELAY = "https://provider.example", "http://127.0.0.1:8000/capture/T"


def test_what_belongs_to_a_connection_does_not_go_on() -> None:
    given = [
        ("Host", "127.0.0.1"),
        ("Connection", "keep-alive, X-Private"),
        ("X-Private", "1"),
        ("Expect", "100-continue"),
        ("Accept-Encoding", "gzip, br"),
        ("X-Pipeweb-Session", "loaf"),
        ("Content-Length", "3"),
        ("x-goog-api-key", "k"),
        ("X-Goog-Api-Client", "c"),
    ]
    assert to_provider(given) == [
        ("x-goog-api-key", "k"),
        ("X-Goog-Api-Client", "c"),
        ("Accept-Encoding", "identity"),
    ]


def test_an_answer_leads_nowhere_else_and_sets_no_cookie() -> None:
    given = [
        ("Set-Cookie", "a=b"),
        ("Alt-Svc", 'h3=":443"'),
        ("Transfer-Encoding", "chunked"),
        ("Retry-After", "3"),
        ("X-Goog-Upload-URL", f"{UPSTREAM}/upload/v1beta/files?upload_id=1"),
        ("Location", "https://provider.example.evil/x"),
    ]
    assert to_client(given, upstream=UPSTREAM, relay=RELAY) == [
        ("Retry-After", "3"),
        ("X-Goog-Upload-URL", f"{RELAY}/upload/v1beta/files?upload_id=1"),
        ("Location", "https://provider.example.evil/x"),
        ("X-Accel-Buffering", "no"),
    ]


def test_only_headers_of_the_list_are_stored() -> None:
    secret = [("x-goog-api-key", "k"), ("Authorization", "Bearer k"), ("Cookie", "k"), ("X-New", "k")]
    assert kept([*secret, ("User-Agent", "a/1")]) == [["user-agent", "a/1"]]
    assert kept([("Set-Cookie", "k"), ("Retry-After", "3")], of_answer=True) == [["retry-after", "3"]]


def test_a_program_is_known_by_its_products_without_versions() -> None:
    given = [("User-Agent", "GeminiCLI-acp/0.61.0/gemini-2.5-pro (linux; x64; terminal)")]
    assert scope_of(given, "secret") == "GeminiCLI-acp"
    sdk = "google-genai-sdk/2.34.0 gl-python/3.11.7 google-adk/2.13.0 gl-python/3.11.7"
    # As it was stored by earlier versions: a conversation goes on after an update.
    assert scope_of([("User-Agent", sdk)], "secret") == "google-genai-sdk gl-python google-adk gl-python"


@pytest.mark.parametrize(
    "products",
    [
        "ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24",
        "ai-sdk-google/4.0.121 ai-sdk-provider-utils/5.0.81 node.js/24",
        "ai-sdk-agent/tool-loop ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24",
        "ai-sdk/google/2.0.14 ai-sdk-provider-utils/3.0.9 node.js/24",
    ],
)
def test_functions_of_the_ai_sdk_are_one_program(products: str) -> None:
    assert scope_of([("User-Agent", products)], "secret") == "ai-sdk node.js"


def test_a_program_with_a_like_name_is_another() -> None:
    assert scope_of([("User-Agent", "ai-loaf/1 aisdk/2 node.js/24")], "secret") == "ai-loaf aisdk node.js"


def test_an_installation_is_told_apart_and_not_named() -> None:
    one, other = (
        scope_of([("User-Agent", "a/1"), ("x-gemini-api-privileged-user-id", who)], "secret")
        for who in ("0000-1", "0000-2")
    )
    assert one != other and "0000" not in one
