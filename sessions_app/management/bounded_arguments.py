"""Types of arguments of a command line that are refused outside their bounds."""

from argparse import ArgumentTypeError
from collections.abc import Callable

LARGEST_PORT = 65_535
"""The system takes the lower 16 bits of a larger one, which are another port."""


def whole_number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError as error:
            raise ArgumentTypeError(f"{text[:40]!r} is no whole number.") from error
        if not least <= number <= most:
            raise ArgumentTypeError(f"{text[:40]} is not between {least:,} and {most:,}.")
        return number

    return read


def line_of_text(limit: int) -> Callable[[str], str]:
    """A name as a page shows it: on one line, and whole."""

    def read(text: str) -> str:
        name = text.strip()
        if not name or not name.isprintable():
            raise ArgumentTypeError("A name is needed, on one line.")
        if len(name) > limit:
            raise ArgumentTypeError(f"{len(name):,} characters are too many: {limit} at most.")
        return name

    return read
