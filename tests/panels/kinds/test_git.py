"""What git says of a workspace, and what its repository cannot make it do."""

import os
from pathlib import Path

import pytest

from sessions_app.errors import WorkspaceError
from sessions_app.panels.kinds.git import git_log, git_status, github_lists, github_name
from tests.panels.conftest import Git


@pytest.fixture
def trap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that leaves a file behind when anybody runs it."""
    folder = tmp_path_factory.mktemp("trap")
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {folder}/sprung\ncat\n")
    program.chmod(0o755)
    return program


def is_sprung(trap: Path) -> bool:
    return (trap.parent / "sprung").exists()


def test_the_status_names_the_branch_and_what_changed(repository: Path) -> None:
    printed = git_status(repository)
    assert not printed.failed
    assert printed.text.splitlines() == ["## main", " M a.txt", "?? new.txt"]


def test_the_log_has_a_line_for_each_commit(repository: Path) -> None:
    assert git_log(repository).text.endswith(" Ada: Begin")


def test_a_repository_without_a_commit_has_a_status(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "-b", "main")
    assert git_status(tmp_path).text == "## No commits yet on main"
    assert git_log(tmp_path).failed


def test_packed_history_is_read_too(repository: Path, git: Git) -> None:
    git("gc", "-q")
    assert git_log(repository).text.endswith("Begin")


def test_a_folder_that_is_no_repository_says_so(tmp_path: Path) -> None:
    printed = git_status(tmp_path)
    assert printed.failed and "not a git repository of its own" in printed.text


def test_the_repository_of_a_parent_folder_is_not_found(repository: Path) -> None:
    (repository / "inner").mkdir()
    assert git_status(repository / "inner").failed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("core.fsmonitor", "{trap}"),
        ("core.pager", "{trap}"),
        ("core.sshCommand", "{trap}"),
        ("core.hooksPath", "{folder}"),
        ("core.gitProxy", "{trap}"),
        ("core.alternateRefsCommand", "{trap}"),
        ("filter.evil.clean", "{trap}"),
        ("filter.evil.process", "{trap}"),
        ("diff.evil.textconv", "{trap}"),
        ("gpg.program", "{trap}"),
        ("alias.status", "!{trap}"),
        ("alias.log", "!{trap}"),
        ("include.path", "{folder}/more"),
    ],
)
def test_a_setting_of_the_repository_runs_no_program(
    repository: Path, trap: Path, git: Git, name: str, value: str
) -> None:
    (trap.parent / "more").write_text(f"[core]\n\tfsmonitor = {trap}\n")
    (trap.parent / "post-index-change").symlink_to(trap)
    (repository / ".gitattributes").write_text("* filter=evil diff=evil\n")
    git("config", "log.showSignature", "true")
    git("config", name, value.format(trap=trap, folder=trap.parent))
    before = (repository / ".git" / "index").read_bytes()
    assert not git_status(repository).failed and not git_log(repository).failed
    assert not is_sprung(trap)
    assert (repository / ".git" / "index").read_bytes() == before


def test_this_test_would_notice_a_program_that_runs(repository: Path, trap: Path, git: Git) -> None:
    git("config", "core.fsmonitor", str(trap))
    git("status")
    assert is_sprung(trap)


def test_hooks_are_not_run(repository: Path, trap: Path) -> None:
    (repository / ".git" / "hooks" / "post-index-change").symlink_to(trap)
    git_status(repository)
    assert not is_sprung(trap)


def test_a_repository_inside_is_not_asked(repository: Path, trap: Path, git: Git) -> None:
    inner = repository / "inner"
    inner.mkdir()
    git("init", "-q", folder=inner)
    git("commit", "-q", "--allow-empty", "-m", "Inner", folder=inner)
    git("add", "inner")
    git("config", "core.fsmonitor", str(trap), folder=inner)
    assert not git_status(repository).failed and not is_sprung(trap)


@pytest.mark.parametrize("name", [".git", ".git/objects", ".git/refs", ".git/index", ".git/HEAD"])
def test_a_repository_that_leads_elsewhere_is_not_read(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "it"
    (repository / name).rename(elsewhere)
    (repository / name).symlink_to(elsewhere)
    printed = git_status(repository)
    assert printed.failed and "elsewhere" in printed.text


def test_a_file_in_place_of_the_repository_is_not_followed(repository: Path, git: Git) -> None:
    git("init", "-q", "--separate-git-dir", str(repository / "real"))
    assert "lies elsewhere" in git_status(repository).text


def test_objects_of_another_repository_are_not_borrowed(repository: Path) -> None:
    (repository / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "objects" / "info" / "alternates").write_text("/srv/other/.git/objects\n")
    assert "borrows from elsewhere" in git_log(repository).text


def test_another_repositorys_refs_are_not_shared(repository: Path) -> None:
    (repository / ".git" / "commondir").write_text("/srv/other/.git\n")
    assert git_log(repository).text.endswith("Begin")


@pytest.mark.parametrize(
    "head", [b"", b"\xff\xfe", b"ref: refs/heads/../../../../etc/passwd", b"x" * 5_000_000]
)
def test_a_broken_head_is_a_failure_to_read(repository: Path, head: bytes) -> None:
    (repository / ".git" / "HEAD").write_bytes(head)
    assert git_log(repository).failed


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/ada/engine.git",
        "https://github.com/ada/engine",
        "git@github.com:ada/engine.git",
        "ssh://git@github.com/ada/engine/",
    ],
)
def test_the_name_on_github_is_that_of_the_origin(repository: Path, git: Git, url: str) -> None:
    git("remote", "add", "origin", url)
    assert github_name(repository) == "ada/engine"


@pytest.mark.parametrize(
    "url", ["", "https://example.org/ada/engine", "--upload-pack=x", "https://github.com/a"]
)
def test_an_origin_elsewhere_has_no_name_on_github(repository: Path, git: Git, url: str) -> None:
    git("config", "remote.origin.url", url)
    with pytest.raises(WorkspaceError, match="no origin on github"):
        github_name(repository)


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
def github_repository(repository: Path, git: Git) -> Path:
    git("remote", "add", "origin", "https://github.com/ada/engine.git")
    return repository


def test_without_the_program_its_absence_is_said(
    github_repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    printed = github_lists(github_repository)
    assert printed.failed and printed.text == "The program “gh” is not installed on this machine."


def test_issues_and_pull_requests_of_the_origin_are_listed(github_repository: Path, gh: Path) -> None:
    printed = github_lists(github_repository)
    assert not printed.failed
    issues, pulls = printed.text.split("\n\n")
    assert issues.startswith("Open issues of ada/engine, the newest 20 at most:\n12\tOPEN\tIt rattles")
    assert pulls.startswith("Open pull requests of ada/engine, the newest 20 at most:")


def test_it_gets_its_login_and_none_of_our_secrets(github_repository: Path, gh: Path) -> None:
    assert "\n0" in github_lists(github_repository).text


def test_without_a_login_its_own_words_are_shown(
    github_repository: Path, gh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GH_TOKEN")
    printed = github_lists(github_repository)
    assert printed.failed and "gh auth login" in printed.text


def test_a_workspace_that_is_not_on_github_says_so(tmp_path: Path, gh: Path) -> None:
    assert "not a git repository" in github_lists(tmp_path).text
