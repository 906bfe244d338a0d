import json

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.json_places import bytes_of, members, respelled
from sessions_app.prompt.wire import canonical, dumps, escaped

values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
indents = st.sampled_from([None, 1, 2])


@given(st.dictionaries(st.text(max_size=4), values, max_size=4) | st.lists(values, max_size=4), indents)
def test_the_bytes_of_each_member_are_its_json(value: object, indent: int | None) -> None:
    body = json.dumps(value, indent=indent).encode()
    found = {one.name: json.loads(body[one.start : one.end]) for one in members(body)}
    assert found == (value if isinstance(value, dict) else dict(enumerate(value)))  # type: ignore[arg-type]


@given(st.text(max_size=9), st.integers(0, 9), st.booleans())
def test_the_bytes_of_the_first_characters_stand_for_them(text: str, count: int, ascii_only: bool) -> None:
    body = json.dumps(text, ensure_ascii=ascii_only).encode()[1:-1]
    at = bytes_of(body, count)
    assert json.loads(b'"' + body[:at] + b'"') == text[:count]


def test_a_surrogate_pair_is_one_character() -> None:
    assert bytes_of(rb"a\ud83d\ude00b", 2) == 13 and bytes_of(rb"\\u00e9", 1) == 2


@given(values, st.integers(0, 60))
def test_a_place_in_another_spelling_is_in_the_same_token(value: object, offset: int) -> None:
    compact, spread = dumps(value), json.dumps(value, indent=2, ensure_ascii=False).encode()
    at = respelled(compact, min(offset, len(compact)), spread)
    same = b"".join(spread[:at].split())
    assert b"".join(compact.split()).startswith(same) or value != json.loads(compact)


def test_one_spelling_keeps_its_offset() -> None:
    assert respelled(b'{"a":1}', 5, b'{"a":1}') == 5
    assert respelled(b'{"a":1}', 5, b'{ "a" : 1 }') == 8


@given(st.dictionaries(st.text(max_size=4), values, max_size=4))
def test_the_order_and_spelling_of_json_has_no_meaning(value: dict[str, object]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical(turned) == canonical(json.loads(json.dumps(value, indent=1)))


def test_escaping_is_the_inverse() -> None:
    assert bytes_of(escaped('a"\n'), 2) == 3
