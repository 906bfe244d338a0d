from datetime import timedelta

import pytest

from sessions_app.errors import PromptError
from sessions_app.prompt.panels import Panel, in_order
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
