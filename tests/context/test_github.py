"""Issues and pull requests, by a stand-in for the gh program."""

import os
from pathlib import Path

import pytest

from sessions_app.context.github import github
from tests.context.conftest import Git

GH = """#!/bin/sh
if [ -z "$GH_TOKEN" ]; then echo "To get started, please run: gh auth login"; exit 4; fi
[ "$1" = issue ] && echo "12	OPEN	It rattles	$5	$(ls | wc -l)"
env | grep -c GEMINI_API_KEY >&2
exit 0
"""


@pytest.fixture
def gh(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed gh with a login."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "gh").write_text(GH)
    (folder / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GH_TOKEN", "a-token")
    monkeypatch.setenv("GEMINI_API_KEY", "a-secret")
    return folder


@pytest.fixture
def repository(repository: Path, git: Git) -> Path:
    git("remote", "add", "origin", "https://github.com/ada/engine.git")
    return repository


def test_without_the_program_its_absence_is_said(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    printed = github(repository)
    assert printed.failed and printed.text == "The program “gh” is not installed on this machine."


def test_issues_and_pull_requests_of_the_origin_are_listed(repository: Path, gh: Path) -> None:
    printed = github(repository)
    assert not printed.failed
    issues, pulls = printed.text.split("\n\n")
    assert issues.startswith("Open issues of ada/engine:\n12\tOPEN\tIt rattles")
    assert pulls.startswith("Open pull requests of ada/engine:")


def test_it_gets_its_login_and_none_of_our_secrets(repository: Path, gh: Path) -> None:
    assert "\n0" in github(repository).text


def test_without_a_login_its_own_words_are_shown(
    repository: Path, gh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GH_TOKEN")
    printed = github(repository)
    assert printed.failed and "gh auth login" in printed.text


def test_a_workspace_that_is_not_on_github_says_so(tmp_path: Path, gh: Path) -> None:
    assert "not a git repository" in github(tmp_path).text
