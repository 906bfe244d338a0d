"""Reading a file element by element gives what a JSON parser gives, or says where it is damaged."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from sessions_app.chat.import_file import Element, ImportFile
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.values import DEPTH_LIMIT
from tests.conftest import ROOT

ANY: TypeAdapter[Any] = TypeAdapter(Any)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=12,
)


def read(body: bytes, folder: Path) -> dict[str, Any]:
    """The members of the file; lists item by item."""
    path = folder / "read.json"
    path.write_bytes(body)
    with ImportFile(path) as file:

        def value(element: Element) -> Any:
            try:
                return [file.parse(ANY, item) for item in file.items(element)]
            except NotImportable as error:
                if "“[”" in error.figures.get("problem", ""):
                    return file.parse(ANY, element)
                raise

        return {name: value(element) for name, element in file.members(file.root())}


@given(st.dictionaries(st.text(), VALUES, max_size=5), st.sampled_from([None, 1]), st.booleans())
def test_elements_are_those_of_a_parser(
    tmp_path_factory: Any, value: dict[str, Any], indent: int | None, is_ascii: bool
) -> None:
    body = json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode()
    assert read(body, tmp_path_factory.getbasetemp()) == json.loads(body)


@given(st.dictionaries(st.text(), VALUES, min_size=1, max_size=3), st.data())
def test_a_damaged_file_is_refused_or_still_json(
    tmp_path_factory: Any, value: dict[str, Any], data: Any
) -> None:
    body = json.dumps(value).encode()
    place = data.draw(st.integers(0, len(body)))
    other = data.draw(st.sampled_from([b"", b"}", b"]", b'"', b",", b"{", b"\\"]))
    damaged = body[:place] + other + body[place + 1 :]
    try:
        found = read(damaged, tmp_path_factory.getbasetemp())
    except NotImportable:
        return
    assert found == json.loads(damaged.decode(errors="replace"))


@pytest.mark.parametrize("depth", [DEPTH_LIMIT + 1, 100_000])
def test_a_deep_file_is_refused_with_the_limit(tmp_path: Path, depth: int) -> None:
    with pytest.raises(NotImportable) as caught:
        read(b'{"turns":' + b"[" * depth + b"]" * depth + b"}", tmp_path)
    assert caught.value.reason == ImportProblem.TOO_DEEP and caught.value.figures["limit"] == DEPTH_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["turns", "texts", "media"])
def test_an_import_takes_no_more_memory_than_three_times_its_file(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.chat.import_memory", kind],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert (
        figures["state"] == "completed" and figures["file"] > 35 and figures["grown"] < 3 * figures["file"]
    ), figures
