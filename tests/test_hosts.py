import pytest

from sessions_app.hosts import EMULATOR, GOOGLE, answering_host, host_of, is_google, without_user


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        ("", ""),
        (GOOGLE, "generativelanguage.googleapis.com"),
        (EMULATOR, "emulator"),
        ("https://googleapis.com.example", "googleapis.com.example"),
        ("http://127.0.0.1:21030", "127.0.0.1:21030"),
        ("http://somebody:word@Gateway.example/v1/gemini", "gateway.example"),
        ("http://" + "a" * 60, "a" * 39 + "…"),
    ],
)
def test_whoever_answers_is_named_by_its_host(base_url: str, host: str) -> None:
    assert host_of(base_url) == host


@pytest.mark.parametrize(
    ("base_url", "google"),
    [
        (GOOGLE, True),
        ("https://eu-generativelanguage.googleapis.com/", True),
        ("https://googleapis.com.example", False),
        ("https://google.evilgoogleapis.com", False),
        (EMULATOR, False),
        ("", False),
    ],
)
def test_only_googles_own_hosts_are_googles(base_url: str, google: bool) -> None:
    assert is_google(base_url) is google


@pytest.mark.parametrize(
    ("base_url", "provider", "host"),
    [
        ("http://127.0.0.1:9", "Gemini", "127.0.0.1:9"),
        (EMULATOR, "", "emulator"),
        ("", "Emulator (OpenAI-compatible)", "emulator"),
        ("", "Gemini", "unknown host"),
        ("", "", "unknown host"),
    ],
)
def test_an_exchange_without_an_address_has_a_host_only_if_it_is_certain(
    base_url: str, provider: str, host: str
) -> None:
    assert answering_host(base_url, provider) == host


def test_the_name_and_password_of_a_proxy_are_left_out() -> None:
    assert without_user("http://somebody:word@host:8/path?x=1") == "http://host:8/path?x=1"
