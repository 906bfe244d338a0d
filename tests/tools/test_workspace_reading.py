"""Tools that look into the workspace."""

from typing import Any

import pytest

from sessions_app.panels import TOOLBOX
from sessions_app.tools import ToolContext, workspace_reading
from sessions_app.tools.workspace_reading import hash_of_lines


async def answer(context: ToolContext, name: str, **args: Any) -> dict[str, Any]:
    return (await TOOLBOX.run(name, args, context)).response


@pytest.fixture
def files(context: ToolContext) -> ToolContext:
    for path in ("readme.md", "src/app.py", "src/deep/core.py", "src/deep/notes.md"):
        context.workspace.write_text(path, f"first\nthis is {path}\nlast\n")
    return context


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("", ["readme.md", "src/app.py", "src/deep/core.py", "src/deep/notes.md"]),
        ("*.py", ["src/app.py", "src/deep/core.py"]),
        ("src/*.py", ["src/app.py"]),
        ("src/**/*.py", ["src/app.py", "src/deep/core.py"]),
        ("src/**", ["src/app.py", "src/deep/core.py", "src/deep/notes.md"]),
        ("**/deep/*", ["src/deep/core.py", "src/deep/notes.md"]),
        ("app.?y", ["src/app.py"]),
        ("nothing*", []),
    ],
)
async def test_files_are_listed_by_a_pattern(files: ToolContext, pattern: str, paths: list[str]) -> None:
    found = await answer(files, "list_files", files=pattern)
    assert [one["path"] for one in found["files"]] == paths
    assert all(one["bytes"] == files.workspace.size_of(one["path"]) > 0 for one in found["files"])


@pytest.mark.parametrize("pattern", ["../*", "/etc/*"])
async def test_a_pattern_does_not_lead_out(files: ToolContext, pattern: str) -> None:
    assert "error" in await answer(files, "list_files", files=pattern)


async def test_many_stars_take_no_time(files: ToolContext) -> None:
    files.workspace.write_text("a" * 100 + "/" + "a" * 100, "")
    assert await answer(files, "list_files", files="**/" * 20 + "*a" * 20 + "b") == {"files": []}


async def test_a_long_list_says_that_it_is_cut(files: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_reading, "LISTED", 2)
    found = await answer(files, "list_files")
    assert len(found["files"]) == 2 and found["note"].startswith("The first 2 of 4 files")


async def test_matches_come_with_line_and_neighbours(files: ToolContext) -> None:
    found = await answer(
        files, "search_files", pattern=r"THIS is \S+core", files="*.py", ignore_case=True, context_lines=1
    )
    assert found == {
        "matches": [
            {
                "path": "src/deep/core.py",
                "line": 2,
                "text": "this is src/deep/core.py",
                "before": ["first"],
                "after": ["last"],
            }
        ]
    }


async def test_binary_files_are_not_searched(context: ToolContext) -> None:
    (context.workspace.root / "picture.png").write_bytes(b"needle\0\xff")
    context.workspace.write_text("a.txt", "needle")
    found = await answer(context, "search_files", pattern="needle")
    assert [one["path"] for one in found["matches"]] == ["a.txt"]


async def test_too_many_matches_stop_the_search(files: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_reading, "MATCHES", 2)
    found = await answer(files, "search_files", pattern="first")
    assert len(found["matches"]) == 2 and found["note"].startswith("Searched 2 of 4 files")


async def test_a_pattern_of_exponential_time_is_given_up(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_reading, "SEARCH_SECONDS", 0.05)
    context.workspace.write_text("a.txt", "a" * 5_000 + "b")
    found = await answer(context, "search_files", pattern=r"(a|aa|a?)+$")
    assert "takes more than 0.05 seconds in “a.txt”" in found["error"]


async def test_what_is_no_pattern_is_said(files: ToolContext) -> None:
    assert "not a regular expression" in (await answer(files, "search_files", pattern="("))["error"]


async def test_a_range_has_the_hash_of_its_lines(files: ToolContext) -> None:
    found = await answer(files, "read_range", path="readme.md", first=2, last=3)
    text = "this is readme.md\nlast\n"
    assert found == {
        "path": "readme.md",
        "first": 2,
        "last": 3,
        "lines": 3,
        "hash": hash_of_lines([text]),
        "text": text,
    }


async def test_a_long_range_ends_where_it_says(files: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_reading, "RANGE_LINES", 2)
    found = await answer(files, "read_range", path="readme.md")
    assert (found["last"], found["lines"]) == (2, 3)


async def test_a_range_beyond_the_end_names_the_number_of_lines(files: ToolContext) -> None:
    found = await answer(files, "read_range", path="readme.md", first=9)
    assert found["error"] == "“readme.md” has 3 lines."
