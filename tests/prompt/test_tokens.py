import math

import pytest
from hypothesis import given

from sessions_app.prompt import wire
from sessions_app.prompt.tokens import MEDIA_TOKENS, cached_percent, estimate, estimate_part
from tests.prompt.examples import SIGNATURE, call, text, texts


@given(texts)
def test_it_counts_bytes_over_3_point_3_rounded_up(value: str) -> None:
    value = wire.well_formed(value)
    assert estimate(value) == estimate(value.encode()) == math.ceil(len(value.encode()) * 10 / 33)


def test_a_media_part_has_a_fixed_price() -> None:
    assert estimate_part({"inlineData": {"mimeType": "image/png", "data": "A" * 9000}}) == MEDIA_TOKENS


def test_a_signature_adds_nothing() -> None:
    assert estimate_part(text("hello", thoughtSignature=SIGNATURE)) == estimate("hello")
    assert estimate_part(call("f", SIGNATURE, a=1)) == estimate_part(call("f", a=1))
    assert estimate_part({"thoughtSignature": SIGNATURE}) == 0


@pytest.mark.parametrize(
    ("cached", "prompt", "percent"),
    [
        (0, 200, 0),
        (50, 200, 25),
        (199, 200, 99),
        (200, 200, 100),
        (201, 200, None),
        (None, 200, None),
        (5, 0, None),
    ],
)
def test_a_hundred_percent_are_all_of_it(cached: int | None, prompt: int, percent: int | None) -> None:
    assert cached_percent(cached, prompt) == percent
