"""Bodies of refusals that came compressed although no compression was asked for."""

import zlib

_WINDOWS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}
"""The window of zlib by the encoding; "deflate" is sent with and without the header of zlib."""


def is_known(encoding: str) -> bool:
    return encoding.lower() in _WINDOWS


def unpacked(body: bytes, encoding: str, limit: int) -> tuple[bytes, bool]:
    """At most `limit` bytes of the text in a known encoding, and whether that is the beginning only.

    No more than the limit is ever unpacked. Nothing of a body that is not in its encoding.
    """
    for window in _WINDOWS[encoding.lower()]:
        unpacker = zlib.decompressobj(window)
        try:
            text = unpacker.decompress(body, limit)
        except zlib.error:
            continue
        return text, not unpacker.eof
    return b"", True
