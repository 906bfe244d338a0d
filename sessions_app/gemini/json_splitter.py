"""Splits text without framing into JSON objects: one object, or an array of them, in packets of any size."""

import re

_IN_VALUE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_QUOTE, _ESCAPE = b'"\\'

OPENERS = b"{["
"""What such text begins with."""


class JsonSplitter:
    """Splits text without framing into JSON objects, in one pass whatever the packets are.

    The text is one object, or one array whose elements are the objects. `rest` is what follows
    when the value has closed.
    """

    def __init__(self, is_array: bool) -> None:
        self.is_open = True
        self._text = bytearray()
        self._at = 0
        self._end = 0
        self._base = 1 if is_array else 0
        self._depth = 0
        self._quoted = False

    def feed(self, data: bytes) -> list[bytes]:
        """Complete objects, in order."""
        self._text += data
        values: list[bytes] = []
        while self.is_open and (mark := self._next_mark()) is not None:
            if self._closes_value(mark):
                values.append(bytes(self._text[: self._at]))
                self._end = self._at
        return values

    @property
    def rest(self) -> bytes:
        return bytes(self._text[self._at :])

    @property
    def unfinished(self) -> bytes:
        """What there is of the value that has not closed, or else what follows the last one."""
        return bytes(self._text[self._end :])

    def _next_mark(self) -> int | None:
        match = (_IN_STRING if self._quoted else _IN_VALUE).search(self._text, self._at)
        if match is None:
            self._at = max(self._at, len(self._text))
            return None
        self._at = match.end()
        return match.start()

    def _closes_value(self, mark: int) -> bool:
        byte = self._text[mark]
        if self._quoted:
            self._quoted = byte != _QUOTE
            self._at += byte == _ESCAPE
        elif byte == _QUOTE:
            self._quoted = True
        elif byte in OPENERS:
            self._open(mark)
        else:
            return self._close()
        return False

    def _open(self, mark: int) -> None:
        if self._depth == self._base:
            del self._text[:mark]
            self._at -= mark
            self._end = 0
        self._depth += 1

    def _close(self) -> bool:
        self._depth -= 1
        self.is_open = self._depth > 0
        return self._depth == self._base
