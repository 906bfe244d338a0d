"""Names that browsers send, and patterns that models write."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.workspace import Workspace
from sessions_app.workspace_paths import NAME_LIMIT, matches_pattern, safe_name


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report (1).pdf", "report (1).pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\notes\\plan.md", "plan.md"),
        (".env", "env"),
        ("...", "file"),
        ("", "file"),
        ("a\0b\n.txt", "a_b_.txt"),
        ("übung.txt", "übung.txt"),
        ("<b>.html", "_b_.html"),
    ],
)
def test_names_are_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text(max_size=300))
def test_every_name_becomes_one_that_resolves(name: str) -> None:
    safe = safe_name(name)
    assert len(safe.encode()) <= NAME_LIMIT
    assert Workspace(Path(os.sep, "nowhere")).resolve(safe).name == safe


@pytest.mark.parametrize(
    ("path", "pattern", "is_match"),
    [
        ("a.py", "*.py", True),
        ("src/a.py", "*.py", False),
        ("a.py", "**/*.py", True),
        ("src/deep/a.py", "**/*.py", True),
        ("src/deep/a.py", "src/*/a.py", True),
        ("src/a.py", "src/*/a.py", False),
        ("src/deep/a.py", "src/**", True),
        ("src/a.py", "src/**/a.py", True),
        ("src/ab.py", "src/?.py", False),
    ],
)
def test_a_star_stays_in_a_folder_and_two_do_not(path: str, pattern: str, is_match: bool) -> None:
    assert matches_pattern(path, pattern) is is_match
