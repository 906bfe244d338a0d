"""Short transactions with pauses, so that a large import or its removal stops nobody's work."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from time import monotonic, sleep
from typing import TypeVar

from django.db import transaction

from sessions_app.chat.import_check import Entry
from sessions_app.chat.throttle import Throttle
from sessions_app.database import close_unusable_connections

T = TypeVar("T")

TARGET_SECONDS = 0.015
"""What a transaction should take; it may take 0.05."""

PAUSE_SECONDS = 0.005
"""The least pause."""

PAUSE_FACTOR = 4
"""A pause lasts so many times as long as the transaction before."""

FIRST_SIZE = 40
SMALLEST_SIZE = 20
"""A transaction costs about as much as so many entries, so fewer would hardly shorten it."""

LARGEST_SIZE = 250

WEIGHT_LIMIT = 2**19
"""Bytes of the entries of one transaction, unless it has a single entry."""


_turn = Lock()
"""Held during a transaction and its pause: the imports of a process have their share together."""


class Slices:
    """Transactions of this thread. `in_each` is called at the beginning of each, with its entries."""

    def __init__(self, in_each: Callable[[int], None]) -> None:
        self._in_each = in_each
        self._size = FIRST_SIZE
        self._throttle = Throttle()

    @property
    def size(self) -> int:
        """How many entries the next transaction should have, by the time that the last one took."""
        return self._size

    def commit(self, write: Callable[[], object], entries: int) -> None:
        self._throttle.rest()
        with _turn:
            close_unusable_connections()
            with transaction.atomic():
                # Not before: the transaction may have waited for another one.
                began = monotonic()
                self._in_each(entries)
                write()
            seconds = monotonic() - began
            self._adapt(entries, seconds)
            sleep(max(PAUSE_FACTOR * seconds, PAUSE_SECONDS))
        self._throttle = Throttle()

    def batches(self, entries: Iterable[Entry[T]]) -> Iterator[Sequence[Entry[T]]]:
        """The entries of a file in groups for one transaction each."""
        batch: list[Entry[T]] = []
        weight = 0
        for entry in entries:
            if batch and (len(batch) >= self._size or weight + entry.size > WEIGHT_LIMIT):
                yield batch
                batch, weight = [], 0
            batch.append(entry)
            weight += entry.size
        if batch:
            yield batch

    def _adapt(self, entries: int, seconds: float) -> None:
        fitting = int(entries * TARGET_SECONDS / max(seconds, 0.001))
        if seconds > TARGET_SECONDS:
            self._size = min(self._size, max(SMALLEST_SIZE, fitting))
        elif entries >= self._size:
            self._size = min(LARGEST_SIZE, 2 * self._size, max(self._size, fitting))
