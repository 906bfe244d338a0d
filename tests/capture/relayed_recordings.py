"""Recorded clients as the records that the relay hands to the recorder."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sessions_app.capture.headers import kept, scope_of
from sessions_app.capture.paths import relay_path
from sessions_app.capture.recording import Recording
from sessions_app.capture.records import Begun, Ended, Record
from sessions_app.models import CaptureAddress
from tests.capture.recordings import Recorded

START = datetime(2026, 11, 22, 12, tzinfo=UTC)
SECRET = "the key of the tests"


def records_of(address: CaptureAddress, exchanges: Iterable[Recorded]) -> list[Record]:
    """Beginnings and ends in the order of time."""
    timed: list[tuple[float, Record]] = []
    for one in exchanges:
        begun = begun_of(address, one)
        timed += [(one.at, begun), (one.ended_at, ended_of(begun, one))]
    return [record for _, record in sorted(timed, key=lambda pair: pair[0])]


def begun_of(address: CaptureAddress, one: Recorded) -> Begun:
    rest, _, query = (one.path.partition("TOKEN")[2] or one.path).partition("?")
    path = relay_path(f"/capture/{'t' * 22}{rest}".encode())
    assert path is not None, one.path
    pairs = list(one.headers.items())
    return Begun(
        address=address.pk,
        owner=address.owner_id,
        received_at=START + timedelta(seconds=one.at),
        method=one.method,
        path=path.rest + (f"?{query}" if query else ""),
        client=one.headers.get("user-agent", ""),
        headers=kept(pairs),
        scope=scope_of(pairs, SECRET),
        model=path.model,
        asks_model=path.asks_model,
        body=one.body,
        size=len(one.body),
    )


def ended_of(begun: Begun, one: Recorded) -> Ended:
    total = round((one.ended_at - one.at) * 1000, 2)
    return Ended(
        begun.key,
        begun.address,
        begun.owner,
        begun.asks_model,
        begun.received_at + timedelta(milliseconds=total),
        status=one.status,
        headers=kept(one.answer_headers, of_answer=True),
        body=one.answer,
        size=len(one.answer),
        request_size=len(one.body),
        packets=list(one.packets),
        first_ms=one.packets[0][0] if one.packets else None,
        total_ms=total,
    )


def capture(address: CaptureAddress, exchanges: Iterable[Recorded]) -> None:
    recording = Recording()
    for record in records_of(address, exchanges):
        recording([record])
