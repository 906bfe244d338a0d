"""`bench capture`: what it sends, and what it makes of its measurements."""

import json

import pytest

from tests.bench.capture import CHUNK_AIM, FIRST_AIM, SIZES, Case, Times, aims_of, cases

SMALL, LARGE = Case(1, SIZES[0]), Case(1, SIZES[1])


@pytest.mark.parametrize("case", [SMALL, LARGE])
def test_a_body_is_a_request_of_about_that_size_with_orders_for_the_upstream(case: Case) -> None:
    body = case.body(7)
    assert abs(len(body) - case.size) < case.size / 20
    parts = json.loads(body)["contents"][0]["parts"]
    assert parts[1] == {"text": f"chunks={case.chunks} pace={case.pace:g}"}
    assert case.body(8) != body


def test_large_bodies_are_sent_by_one_at_a_time() -> None:
    assert list(cases((1, 20))) == [SMALL, Case(20, SIZES[0]), LARGE]


def missed(first: float, cpu: float) -> list[bool]:
    direct = {SMALL: Times([1.0], [1.0]), LARGE: Times([1.0], [1.0])}
    relayed = {SMALL: Times([1.0 + first], [1.0], 9.0, cpu), LARGE: Times([99.0], [1.0], 9.0, 9.0)}
    return [aim.is_missed for aim in aims_of(direct, relayed)]


def test_aims_are_of_small_bodies() -> None:
    assert missed(FIRST_AIM, CHUNK_AIM) == [False, False]
    assert missed(FIRST_AIM + 0.1, CHUNK_AIM) == [True, False]
    assert missed(FIRST_AIM, CHUNK_AIM + 0.1) == [False, True]


def test_a_case_without_answers_has_no_time() -> None:
    assert aims_of({SMALL: Times([1.0])}, {SMALL: Times()}).__next__().is_missed
