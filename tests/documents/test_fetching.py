"""Fetching from a hostile server: nothing private, nothing endless, nothing too large."""

import socket
from collections.abc import Iterator
from time import monotonic

import pytest

from sessions_app.documents import fetching
from sessions_app.documents.fetching import Fetched, Rules, fetch
from sessions_app.error_codes import DocumentProblem
from sessions_app.errors import DocumentRefused
from tests.documents.hostile_server import Pages, serving


@pytest.fixture
def address() -> Iterator[str]:
    with serving() as found:
        yield found


def rules(seconds: float = 30.0, *, allows_loopback: bool = True) -> Rules:
    return Rules(monotonic() + seconds, allows_loopback)


def problem_of(url: str, given: Rules | None = None, **options: object) -> DocumentProblem:
    with pytest.raises(DocumentRefused) as caught:
        fetch(url, given or rules(), **options)  # type: ignore[arg-type]
    return caught.value.reason


def test_a_page_comes_with_its_type_and_nothing_of_ours_goes_out(address: str) -> None:
    page = fetch(f"{address}/redirect?/plain", rules())
    assert page == Fetched(f"{address}/plain", "text/plain", "latin-1", b"caf\xe9")
    assert all("Cookie" not in headers and "Referer" not in headers for headers in Pages.seen)
    assert all(headers["User-Agent"] == fetching.USER_AGENT for headers in Pages.seen)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("large", DocumentProblem.PAGE_TOO_LARGE),
        ("bomb", DocumentProblem.PAGE_TOO_LARGE),
        ("missing", DocumentProblem.BAD_STATUS),
        ("loop", DocumentProblem.TOO_MANY_REDIRECTS),
    ],
)
def test_pages_beyond_a_limit(address: str, path: str, problem: DocumentProblem) -> None:
    assert problem_of(f"{address}/{path}") == problem


def test_a_packed_page_is_unpacked(address: str) -> None:
    assert fetch(f"{address}/packed", rules()).body == b"unpacked all the same"


def test_this_machine_is_private(address: str) -> None:
    assert problem_of(f"{address}/plain", rules(allows_loopback=False)) == DocumentProblem.PRIVATE_ADDRESS
    assert Pages.seen == []


@pytest.mark.parametrize(
    "target",
    ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "//192.168.0.1/x"],
)
def test_a_redirect_into_a_private_network_is_not_followed(address: str, target: str) -> None:
    assert problem_of(f"{address}/redirect?{target}") == DocumentProblem.PRIVATE_ADDRESS


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("file:///etc/passwd", DocumentProblem.NO_WEB_ADDRESS),
        ("ftp://a.example/", DocumentProblem.NO_WEB_ADDRESS),
        ("http://u:p@a.example/", DocumentProblem.WITH_LOGIN),
        ("http://a..example/", DocumentProblem.BAD_ADDRESS),
    ],
)
def test_a_redirect_to_what_is_no_page_is_not_followed(
    address: str, target: str, problem: DocumentProblem
) -> None:
    assert problem_of(f"{address}/redirect?{target}") == problem


@pytest.mark.parametrize(
    "url",
    ["", "x", "/etc/passwd", "file:///etc/passwd", "gopher://a/", "httpsx://a.example/"],
)  # fmt: skip
def test_what_is_no_address_of_a_page(url: str) -> None:
    assert problem_of(url) == DocumentProblem.NO_WEB_ADDRESS


@pytest.mark.parametrize(
    "url",
    ["http://", "https:", "http://a:99999/", "http://a:b/", "http://[a/", "https://exa mple.com", "http://a..b/",
     "http://a.example/\r\nX: y", "http://a.example/" + "x" * 2_000],
)  # fmt: skip
def test_a_mistake_in_an_address_is_no_silent_server(url: str) -> None:
    assert problem_of(url) == DocumentProblem.BAD_ADDRESS


@pytest.mark.parametrize("url", ["http://u@a.example/", "HTTPS://u:p@a.example/x"])
def test_a_name_or_a_password_is_not_sent(url: str) -> None:
    assert problem_of(url) == DocumentProblem.WITH_LOGIN


def test_a_name_beyond_ascii_is_one(address: str) -> None:
    port = int(address.rpartition(":")[2])
    asked: list[str] = []

    def resolve(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    assert fetch(f"http://bücher_2.example:{port}/plain", rules(), resolve).body == b"caf\xe9"
    assert asked == ["xn--bcher_2-n2a.example"]


def test_only_public_ones_of_a_names_addresses_are_connected(address: str) -> None:
    port = int(address.rpartition(":")[2])
    asked: list[str] = []

    def resolve(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["10.0.0.1", "127.0.0.1"]

    assert fetch(f"http://two.example:{port}/plain", rules(), resolve).body == b"caf\xe9"
    assert asked == ["two.example"]


def test_a_name_that_changes_its_address_is_checked_on_the_socket(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a resolver said, the peer of the connected socket decides."""
    port = int(address.rpartition(":")[2])
    real = socket.create_connection

    def rebound(_: tuple[str, int], timeout: float) -> socket.socket:
        return real(("127.0.0.1", port), timeout)

    monkeypatch.setattr(socket, "create_connection", rebound)
    given = rules(allows_loopback=False)
    found = problem_of("http://rebinding.example/plain", given, resolve=lambda *_: ["93.184.216.34"])
    assert found == DocumentProblem.PRIVATE_ADDRESS and Pages.seen == []


def test_a_name_that_nobody_knows() -> None:
    def resolve(*_: object) -> list[str]:
        raise socket.gaierror

    assert problem_of("http://nobody.example/", resolve=resolve) == DocumentProblem.UNKNOWN_HOST


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    assert problem_of(f"http://127.0.0.1:{port}/") == DocumentProblem.UNREACHABLE


def test_time_that_is_over(address: str) -> None:
    assert problem_of(f"{address}/plain", rules(0.0)) == DocumentProblem.TOO_SLOW
