"""Immutable values of rows that a process keeps in memory, bounded by their bytes."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from itertools import compress
from threading import Lock
from typing import Generic, TypeVar

from sessions_app.metrics import CACHE_BYTES

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

CACHE_SIZE = 64_000_000
"""Bytes of one cache, where it is given no limit."""

ENTRY = 400
"""Bytes that a value takes besides its own: for its key, its objects and its place in the cache.

Most values are short: without this, a cache could take five times its bound.
"""


class ByteCache(Generic[Key, Value]):
    """A least-recently-used cache. A key has to name the content of its value.

    A primary key alone does not: SQLite gives that of a row that was rolled back to another one.
    """

    def __init__(self, name: str, limit: int = 0) -> None:
        """`name` says what the values are, in the metrics; `limit` in bytes, 0 stands for CACHE_SIZE."""
        self._limit = limit or CACHE_SIZE
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._size = 0
        self._lock = Lock()
        CACHE_BYTES.labels(values=name).set_function(lambda: self._size)

    def find(self, key: Key) -> Value | None:
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def find_all(self, keys: Sequence[Key]) -> list[Value | None]:
        """The same for each key, faster than one by one."""
        with self._lock:
            found = [*map(self._values.get, keys)]
            for key in compress(keys, found):
                self._values.move_to_end(key)
        return [each and each[0] for each in found]

    def put(self, key: Key, value: Value, size: int) -> None:
        """`size` are the bytes of the value. One that would take an eighth of the cache is not kept."""
        size += ENTRY
        if size > self._limit // 8:
            return
        with self._lock:
            if key not in self._values:
                self._values[key] = value, size
                self._size += size
            while self._size > self._limit:
                self._size -= self._values.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._size = 0
