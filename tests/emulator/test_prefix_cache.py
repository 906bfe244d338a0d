from hypothesis import given
from hypothesis import strategies as st

from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.gemini_requests import Content, Part
from sessions_app.emulator.prefix_cache import PrefixCache, chain_of
from sessions_app.emulator.usage import count_tokens

TEXTS = st.lists(st.text(max_size=3_000), max_size=5)


def held(prefixes: PrefixCache, asked: list[Content], scope: str = "key") -> int:
    """Tokens of the longest prefix known beforehand; then the request is remembered."""
    chain = chain_of(asked, [])
    tokens = prefixes.match(scope, chain, 0).tokens
    prefixes.remember(scope, chain)
    return tokens


def contents(*texts: str) -> list[Content]:
    return [Content(role="user", parts=[Part(text=text)]) for text in texts]


@given(TEXTS)
def test_a_repeated_request_is_known_whole(texts: list[str]) -> None:
    prefixes, asked = PrefixCache(), contents(*texts)
    assert held(prefixes, asked) == 0
    assert held(prefixes, asked) == count_tokens(asked).total()


@given(TEXTS, TEXTS, TEXTS)
def test_a_hit_never_reaches_past_the_common_beginning(
    same: list[str], one: list[str], two: list[str]
) -> None:
    prefixes = PrefixCache()
    held(prefixes, contents(*same, "one", *one))
    assert held(prefixes, contents(*same, "two", *two)) == count_tokens(contents(*same)).total()


def test_a_long_part_is_known_up_to_where_it_changed() -> None:
    prefixes = PrefixCache()
    held(prefixes, contents("a" * 10_000))
    assert held(prefixes, contents("a" * 10_000 + "b" * 5_000)) == 10 * 9_216 // 33


def test_keys_and_models_share_nothing() -> None:
    prefixes, asked = PrefixCache(), contents("a" * 5_000)
    held(prefixes, asked, "one")
    assert held(prefixes, asked, "two") == 0


def test_below_the_minimum_there_is_no_hit() -> None:
    prefixes, chain = PrefixCache(), chain_of(contents("a" * 33), [])
    assert prefixes.match("key", chain, 10).rule is Rule.NOTHING_HELD
    prefixes.remember("key", chain)
    rules = [prefixes.match("key", chain, minimum).rule for minimum in (11, 10)]
    assert rules == [Rule.BELOW_MINIMUM, Rule.IMPLICIT_HIT]


def test_the_oldest_prefixes_are_forgotten() -> None:
    prefixes = PrefixCache(capacity=2)
    for text in ("one", "two", "three"):
        held(prefixes, contents(text))
    assert held(prefixes, contents("one")) == 0
