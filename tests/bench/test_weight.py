"""`bench weight`: what it counts, and what it makes of it."""

from collections.abc import Callable
from typing import Any

from tests.bench.weight import Visit, Wire, aims_of


class Devtools:
    """The events of a page, given by hand."""

    def __init__(self) -> None:
        self.listeners: dict[str, Callable[[dict[str, Any]], None]] = {}

    def on(self, name: str, listener: Callable[[dict[str, Any]], None]) -> None:
        self.listeners[name] = listener

    def send(self, name: str, **event: Any) -> None:
        self.listeners[f"Network.{name}"](event)

    def request(self, number: str, url: str = "http://127.0.0.1/") -> None:
        self.send("requestWillBeSent", requestId=number, request={"url": url})


def test_only_what_went_over_the_network_is_counted() -> None:
    devtools = Devtools()
    wire = Wire(devtools)  # type: ignore[arg-type]
    for number in "1234":
        devtools.request(number)
    devtools.request("5", "data:image/png;base64,AAAA")
    devtools.send("requestServedFromCache", requestId="2")
    devtools.send("responseReceived", requestId="3", response={"fromDiskCache": True})
    devtools.send("responseReceived", requestId="4", response={"fromDiskCache": False})
    devtools.send("loadingFinished", requestId="1", encodedDataLength=700)
    devtools.send("loadingFinished", requestId="4", encodedDataLength=300)
    assert wire.take() == (2, 1000)
    assert wire.take() == (0, 0)


def missed(first: Visit, *later: Visit) -> list[float]:
    """The limits that were missed."""
    visits = {"first": [first], **{f"later {at}": [one] for at, one in enumerate(later)}}
    return [aim.limit for aim in aims_of(visits) if aim.is_missed]


def test_the_first_page_and_every_later_one_have_their_limits() -> None:
    assert missed(Visit(12, 1, 500), Visit(4, 1, 9000), Visit(1, 1, 1)) == []
    assert missed(Visit(13, 1, 501), Visit(4, 1, 1), Visit(5, 1, 1)) == [12, 4, 500]
