from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.errors import PromptError
from sessions_app.prompt.panels import Panel, Stamp, content_of, digest, in_order, restamp
from tests.prompt.examples import NOW


def panel(key: str, minutes: int = 0) -> Panel:
    return Panel(key, key.title(), [], NOW + timedelta(minutes=minutes))


def keys(*panels: Panel) -> list[str]:
    return [each.key for each in in_order(panels)]


def test_the_oldest_change_comes_first() -> None:
    assert keys(panel("a", 3), panel("b", 1), panel("c", 2)) == ["b", "c", "a"]


def test_panels_that_changed_together_have_a_fixed_order() -> None:
    assert keys(panel("zoo"), panel("todos"), panel("ant"), panel("artifacts"), panel("file_references")) == [
        "file_references",
        "artifacts",
        "todos",
        "ant",
        "zoo",
    ]


@pytest.mark.parametrize("twice", ["todos", "current_datetime"])
def test_two_panels_of_one_key_are_refused(twice: str) -> None:
    with pytest.raises(PromptError):
        in_order([panel("todos"), panel(twice)])


@pytest.mark.parametrize(
    ("content", "start", "end"), [(b"", "e3b0c442", "b855"), (b"abc", "ba7816bf", "15ad")]
)
def test_the_hash_of_a_content_is_its_sha256(content: bytes, start: str, end: str) -> None:
    found = digest(content)
    assert len(found) == 64 and found.startswith(start) and found.endswith(end)


@given(st.lists(st.sampled_from(["", "a", "b", "abc"]), max_size=12))
def test_the_time_of_a_panel_moves_if_and_only_if_its_hash_differs(contents: list[str]) -> None:
    stamp: Stamp | None = None
    for minute, content in enumerate(contents):
        now, last = NOW + timedelta(minutes=minute), stamp
        stamp = restamp(last, digest(content.encode()), now)
        assert (stamp.changed == now) == (last is None or last.sha256 != digest(content.encode()))


def test_a_value_that_fits_a_page_is_sent_as_it_is() -> None:
    content = content_of([{"title": "ä"}], page=3)
    assert (content.value, content.page, content.pages) == ([{"title": "ä"}], 1, 1)
    assert content.sha256 == digest('[{"title":"ä"}]'.encode()) and content.tokens == 5


def test_a_long_text_is_sent_a_page_at_a_time() -> None:
    content = content_of("line\n" * 40_000, page=2)
    assert (content.page, content.pages) == (2, 3)
    assert content.value.startswith("[page 2 of 3]\nline\n")


def test_a_long_list_becomes_a_text_with_an_item_per_line() -> None:
    content = content_of([{"id": number, "text": "x" * 90} for number in range(1_000)], page=2)
    assert content.pages == 2
    assert content.value.splitlines()[1].startswith('{"id":') and content.value.endswith("}")


def test_another_page_is_another_content() -> None:
    text = "line\n" * 40_000
    assert content_of(text, 1).sha256 != content_of(text, 2).sha256
