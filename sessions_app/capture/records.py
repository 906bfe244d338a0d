"""What is recorded of a relayed request: when it came, and when it was over."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid4


@dataclass(slots=True)
class Begun:
    """`asks_model`: it belongs to a session. `key_hash` tells whether two requests went out with one key.
    `base_url` is where it went, empty for where its address leads.
    """

    address: int
    owner: int
    received_at: datetime
    method: str
    path: str
    client: str = ""
    headers: list[list[str]] = field(default_factory=list)
    scope: str = ""
    name: str = ""
    model: str = ""
    asks_model: bool = False
    body: bytes | None = None
    size: int = 0
    key_hash: str = ""
    uses_server_key: bool = False
    base_url: str = ""
    key: UUID = field(default_factory=uuid4)


@dataclass(slots=True)
class Ended:
    """`packets` are pairs of milliseconds and bytes; `is_cut`: `body` is the beginning of the answer only.
    `reservation` is the key of the money that was reserved for it, `base_url` as that of its `Begun`.
    """

    key: UUID
    address: int
    owner: int
    asks_model: bool
    ended_at: datetime
    status: int | None = None
    content_type: str = ""
    headers: list[list[str]] = field(default_factory=list)
    body: bytes = b""
    size: int = 0
    request_size: int = 0
    packets: list[tuple[float, int]] = field(default_factory=list)
    is_cut: bool = False
    fault: str = ""
    first_ms: float | None = None
    total_ms: float | None = None
    reservation: int | None = None
    base_url: str = ""


Record = Begun | Ended


def weight(record: Record) -> int:
    """Bytes that it holds while it waits."""
    return len(record.body or b"")
