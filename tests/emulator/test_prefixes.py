from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator.prefixes import Prefixes
from sessions_app.emulator.shapes import Content, Part
from sessions_app.emulator.tokens import tally

TEXTS = st.lists(st.text(max_size=3_000), max_size=5)


def contents(*texts: str) -> list[Content]:
    return [Content(role="user", parts=[Part(text=text)]) for text in texts]


@given(TEXTS)
def test_a_repeated_request_is_known_whole(texts: list[str]) -> None:
    prefixes, asked = Prefixes(), contents(*texts)
    assert prefixes.match("key", asked, [], 0) == 0
    assert prefixes.match("key", asked, [], 0) == tally(asked).total()


@given(TEXTS, TEXTS, TEXTS)
def test_a_hit_never_reaches_past_the_common_beginning(
    same: list[str], one: list[str], two: list[str]
) -> None:
    prefixes = Prefixes()
    prefixes.match("key", contents(*same, "one", *one), [], 0)
    assert prefixes.match("key", contents(*same, "two", *two), [], 0) == tally(contents(*same)).total()


def test_a_long_part_is_known_up_to_where_it_changed() -> None:
    prefixes = Prefixes()
    prefixes.match("key", contents("a" * 10_000), [], 0)
    assert prefixes.match("key", contents("a" * 10_000 + "b" * 5_000), [], 0) == 10 * 9_216 // 33


def test_keys_and_models_share_nothing() -> None:
    prefixes, asked = Prefixes(), contents("a" * 5_000)
    prefixes.match("one", asked, [], 0)
    assert prefixes.match("two", asked, [], 0) == 0


def test_below_the_minimum_there_is_no_hit() -> None:
    prefixes, asked = Prefixes(), contents("a" * 33)
    prefixes.match("key", asked, [], 11)
    assert prefixes.match("key", asked, [], 11) == 0
    assert prefixes.match("key", asked, [], 10) == 10


def test_the_oldest_prefixes_are_forgotten() -> None:
    prefixes = Prefixes(remembered=2)
    for text in ("one", "two", "three"):
        prefixes.match("key", contents(text), [], 0)
    assert prefixes.match("key", contents("one"), [], 0) == 0
