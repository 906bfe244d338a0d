"""Names the service makes up: lower-case letters and digits, the same for the same seed."""

import hashlib

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def short_name(seed: str, length: int) -> str:
    """At most 49 characters."""
    number, letters = int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big"), ""
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[digit]
    return letters
