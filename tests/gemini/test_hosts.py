import pytest

from sessions_app.gemini.gateway import GOOGLE
from sessions_app.gemini.hosts import host_of, without_user


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        ("", ""),
        (GOOGLE, ""),
        ("https://eu-generativelanguage.googleapis.com/", ""),
        ("https://googleapis.com.example", "googleapis.com.example"),
        ("http://127.0.0.1:21030", "127.0.0.1:21030"),
        ("http://somebody:word@Gateway.example/v1/gemini", "gateway.example"),
        ("http://" + "a" * 60, "a" * 39 + "…"),
    ],
)
def test_whoever_is_not_google_is_named_by_its_host(base_url: str, host: str) -> None:
    assert host_of(base_url) == host


def test_the_name_and_password_of_a_proxy_are_left_out() -> None:
    assert without_user("http://somebody:word@host:8/path?x=1") == "http://host:8/path?x=1"
