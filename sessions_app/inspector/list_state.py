"""What an open page shows, so that its next poll brings only what differs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlencode

MAX_OPEN = 50
"""Exchanges without an end that one page asks about."""


@dataclass(frozen=True, slots=True)
class ListState:
    """The state of a page of the list; it travels in the address of the poll."""

    newest: int
    open: Mapping[int, int]
    """Number of each exchange without an end → how many of its chunks had come."""
    refused: int
    """Refused runs of the session, on all pages."""
    active: bool
    is_empty: bool
    """The page has no table that an update could add to."""

    @classmethod
    def read(cls, params: Mapping[str, str]) -> Self:
        """Whatever is no number counts as 0."""
        pairs = (one.partition("-") for one in params.get("open", "").split(",")[:MAX_OPEN] if one)
        return cls(
            newest=_number(params.get("after", "")),
            open={_number(number): _number(chunks) for number, _, chunks in pairs},
            refused=_number(params.get("refused", "")),
            active=params.get("active") == "1",
            is_empty="empty" in params,
        )

    @property
    def query(self) -> str:
        waiting = ",".join(f"{number}-{chunks}" for number, chunks in self.open.items())
        pairs = {"after": self.newest, "open": waiting, "refused": self.refused, "active": int(self.active)}
        return urlencode(pairs | ({"empty": ""} if self.is_empty else {}), safe=",")


def exchange_state(*, is_open: bool, chunks: int, is_active: bool, is_newest: bool) -> str:
    """The state of the page of one exchange."""
    return f"{'open' if is_open else 'ended'}-{chunks}-{int(is_active)}{int(is_newest)}"


def was_open(state: str) -> bool:
    """Whether a page in this state shows an exchange without an end."""
    return state.startswith("open")


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
