from datetime import date
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.conform.recordings.observations import observe
from sessions_app.conform.recordings.recorded import RecordedExchange, Recording, day_of, read_folder
from tests.conform.recordings.makers import response_id, text
from tests.emulator.helpers import user

KNOWN = st.dates(date(1970, 1, 2), date(2100, 1, 1))


def write(folder: Path, name: str, *exchanges: object) -> None:
    (folder / f"{name}.json").write_bytes(orjson.dumps({"exchanges": exchanges}))


@given(KNOWN)
def test_the_day_of_an_answer_stands_in_its_id(day: date) -> None:
    assert day_of(response_id(day)) == day


@pytest.mark.parametrize("name", ["", "?", "A"])
def test_an_id_without_a_day_has_none(name: str) -> None:
    assert day_of(name) is None


def test_a_recording_is_of_the_day_of_its_first_answer(tmp_path: Path) -> None:
    dated = text("gemini-2.5-flash", day=date(2026, 3, 4)).model_dump(mode="json")
    error = {"endpoint": "generateContent", "status": 404, "response_chunks": [{"error": {"code": 404}}]}
    write(tmp_path, "some__thing", error, dated)
    (found,) = read_folder(tmp_path)
    assert (found.source, found.day) == ("some", date(2026, 3, 4))


def test_a_request_is_read_in_either_spelling_and_with_one_for_a_list_of_one() -> None:
    asked = {
        "contents": user("hello"),
        "tools": {"function_declarations": {"name": "f"}},
        "cached_content": "cachedContents/a",
    }
    for request in (asked, {"generate_content_request": asked, "cached_content": "cachedContents/a"}):
        found = text("gemini-2.5-flash").model_copy(update={"request": request})
        assert found.contents == [user("hello")]
        assert found.tools == [{"functionDeclarations": {"name": "f"}}]
        assert found.cache_key == "cached_content"
        assert list(observe([Recording("a", (found,))]))


def test_what_is_damaged_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    good = text("gemini-2.5-flash").model_dump(mode="json")
    write(tmp_path, "a", good | {"status": "?"}, good, good | {"response_chunks": []}, 7)
    (tmp_path / "b.json").write_bytes(b"{")
    first, second = read_folder(tmp_path)
    assert [isinstance(one, RecordedExchange) for one in first.exchanges] == [False, True, False, False]
    assert first.exchanges[0] == "not a recorded exchange: status"
    assert second.exchanges == ("no file of recorded exchanges",)
