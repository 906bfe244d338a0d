"""`bench upload`: what it sends, and what it makes of its measurements."""

from math import inf

import pytest

from tests.bench.base import Aim
from tests.bench.upload import BOUNDARY, Times, aims_of, pieces_of


@pytest.mark.parametrize("size", [1_000, 200_000])
def test_the_form_holds_a_picture_of_that_size(size: int) -> None:
    head, _, rest = b"".join(pieces_of(size)).partition(b"\r\n\r\n")
    file, _, end = rest.rpartition(b"\r\n--")
    assert head.startswith(f"--{BOUNDARY}".encode()) and end == f"{BOUNDARY}--\r\n".encode()
    assert len(file) == size and file.startswith(b"\x89PNG\r\n\x1a\n")


def test_no_file_is_like_another() -> None:
    assert b"".join(pieces_of(1_000)) != b"".join(pieces_of(1_000))


def missed(**times: list[float]) -> list[str]:
    rest = Times(loop=[1.0], page=[10.0], write=[10.0], rss=1)
    given = {"loop": [1.0], "page": [10.0], "write": [10.0]} | times
    measured = Times(loop=given["loop"], page=given["page"], write=given["write"])
    aims: list[Aim] = [*aims_of(rest, {"a file": measured})]
    return [aim.name for aim in aims if aim.is_missed]


def test_a_probe_that_waited_or_was_not_answered_misses_its_aim() -> None:
    assert missed() == []
    assert missed(loop=[1.0, 51.0]) == ["longest wait for the loop during a file, ms"]
    assert missed(page=[inf]) == ["a page takes longer at p95 during a file, ms"]
    assert missed(write=[61.0]) == ["a change takes longer at p95 during a file, ms"]
