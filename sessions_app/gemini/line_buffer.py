"""The lines of a stream that arrives in packets, by the rules of server-sent events (WHATWG HTML, 9.2.5)."""

_BOM = b"\xef\xbb\xbf"
_LF = b"\n"[0]


class LineBuffer:
    """Bytes that have arrived and were not taken yet. Searches every byte once.

    A line ends with CR LF, LF or CR; with CR at once, whatever comes next. One byte order mark at the
    beginning of the stream belongs to no line.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._end = -1
        self._searched = 0
        self._without_lf = 0
        self._has_begun = False
        self._skips_lf = False

    @property
    def rest(self) -> bytes:
        return bytes(self._bytes)

    @property
    def is_between_lines(self) -> bool:
        """Whether what comes next is a line of its own, with nothing to be left out before it."""
        return self._has_begun and not self._skips_lf and not self._bytes

    def add(self, packet: bytes) -> None:
        self._bytes += packet

    def clear(self) -> None:
        self._bytes.clear()
        self._end, self._searched, self._without_lf = -1, 0, 0

    def first(self) -> int | None:
        """The first byte of the next line; None while it has not arrived."""
        if not self._has_begun:
            if len(self._bytes) < len(_BOM) and _BOM.startswith(self._bytes):
                return None
            self._has_begun = True
            if self._bytes.startswith(_BOM):
                del self._bytes[: len(_BOM)]
        if self._skips_lf and self._bytes:
            self._skips_lf = False
            if self._bytes[0] == _LF:
                del self._bytes[0]
        return self._bytes[0] if self._bytes else None

    def line(self) -> bytes | None:
        """The next line without its end, which stays until `drop_line`; None while it has not ended."""
        found = self._bytes.find(_LF, self._without_lf)
        self._without_lf = found if found >= 0 else len(self._bytes)
        # In front of the next LF only: each end is searched for in bytes that were not searched for it.
        end = self._bytes.find(b"\r", self._searched, self._without_lf)
        self._end = end if end >= 0 else found
        if self._end < 0:
            self._searched = len(self._bytes)
            return None
        # Not `bytes(self._bytes[:end])`: that copies the line twice.
        with memoryview(self._bytes) as pending:
            return bytes(pending[: self._end])

    def drop_line(self) -> None:
        """Takes away the line that `line` has returned."""
        self._skips_lf = self._bytes[self._end] != _LF
        del self._bytes[: self._end + 1]
        self._without_lf = max(0, self._without_lf - self._end - 1)
        self._end, self._searched = -1, 0
