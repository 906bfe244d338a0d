"""The panels of git and GitHub, read with `git` and `gh` from the repository of a workspace.

The settings of a repository can run programs (fsmonitor, hooks, filters, pagers), and a model can write them
into a workspace. So git gets a temporary git folder with settings of ours, into which only the data is
linked. Parent folders are not searched for a repository.

`gh` uses the login of this machine, so only sessions of administrators read through it.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import WorkspaceError
from sessions_app.models import Session
from sessions_app.panels.base import ProgramOutput
from sessions_app.panels.program_panel import ProgramPanel, run_program

TIMEOUT = 2.0
"""Seconds that git may take."""

COMMITS = 20

SETTINGS = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"

LINKED = ("refs", "packed-refs", "shallow")

SAFE_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
}

OPTIONS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")

STATUS = ("status", "--short", "--branch", "--ignore-submodules=all", "--untracked-files=normal")

LOG = ("log", f"--max-count={COMMITS}", "--date=short", "--format=%h %ad %an: %s", "--no-show-signature")

GITHUB_URL = re.compile(r"(?:https://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?")

HEAD_LIMIT = 1_000


class GitStatus(ProgramPanel):
    position = 120
    key = "git_status"
    title = "Git status"
    description = "Changed files of the workspace’s repository, if it is one."

    def program(self, session: Session) -> Callable[[], ProgramOutput]:
        return partial(git_status, workspace_of(session.owner_id).root)


class GitLog(ProgramPanel):
    position = 130
    key = "git_log"
    title = "Git log"
    description = "Last commits of the workspace’s repository, if it is one."

    def program(self, session: Session) -> Callable[[], ProgramOutput]:
        return partial(git_log, workspace_of(session.owner_id).root)


def git_status(folder: Path) -> ProgramOutput:
    return _run_git(folder, STATUS)


def git_log(folder: Path) -> ProgramOutput:
    return _run_git(folder, LOG)


def github_name(folder: Path) -> str:
    """owner/name of the repository's origin on GitHub. Raises WorkspaceError when it has none."""
    config = _repository(folder) / "config"
    argv = ("git", "config", "--file", str(config), "--no-includes", "--get", "remote.origin.url")
    url = run_program(argv, folder, timeout=TIMEOUT, extra=SAFE_ENVIRONMENT).text
    if not (match := GITHUB_URL.fullmatch(url.strip())):
        raise WorkspaceError("The workspace's repository has no origin on github.com.")
    return match[1]


def _run_git(folder: Path, arguments: tuple[str, ...]) -> ProgramOutput:
    try:
        with _isolated_git_dir(_repository(folder)) as environment:
            extra = {**SAFE_ENVIRONMENT, **environment, "GIT_WORK_TREE": str(folder)}
            return run_program(("git", *OPTIONS, *arguments), folder, timeout=TIMEOUT, extra=extra)
    except WorkspaceError as error:
        return ProgramOutput(error.message, failed=True)


def _repository(folder: Path) -> Path:
    """The .git of this folder. Raises WorkspaceError without one, or when it refers to other folders."""
    found = folder / ".git"
    if found.is_symlink() or found.is_file():
        raise WorkspaceError("The workspace's repository lies elsewhere and is not read.")
    if not (found / "HEAD").is_file() or not (found / "objects").is_dir():
        raise WorkspaceError("The workspace is not a git repository of its own.")
    checked = ("HEAD", "config", "index", "objects", "objects/pack", "objects/info", *LINKED)
    borrows = (found / "objects" / "info" / "alternates").exists()
    if borrows or any((found / name).is_symlink() for name in checked):
        raise WorkspaceError("The workspace's repository borrows from elsewhere and is not read.")
    return found


@contextmanager
def _isolated_git_dir(repository: Path) -> Iterator[Mapping[str, str]]:
    """Yields the environment variables of a temporary git folder over the data of the repository."""
    try:
        with (repository / "HEAD").open("rb") as file:
            head = file.read(HEAD_LIMIT)
        with TemporaryDirectory(prefix="pipeweb-git-") as name:
            git_dir = Path(name)
            (git_dir / "HEAD").write_bytes(head)
            (git_dir / "config").write_text(SETTINGS)
            for linked in LINKED:
                if (repository / linked).exists():
                    (git_dir / linked).symlink_to(repository / linked)
            yield {
                "GIT_DIR": name,
                "GIT_OBJECT_DIRECTORY": str(repository / "objects"),
                "GIT_INDEX_FILE": str(repository / "index"),
            }
    except OSError as error:
        raise WorkspaceError("The workspace's repository cannot be read.") from error


GH_TIMEOUT = 8.0
"""Seconds for each of the two network calls; no request waits for them."""

GH_ROWS = 20

GH_LOGIN_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "GH_CONFIG_DIR", "GH_TOKEN", "GITHUB_TOKEN")
"""The variables by which `gh` finds its login; no other program gets them."""

GH_ENVIRONMENT = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "GH_PAGER": "cat", "NO_COLOR": "1"}


NOT_ADMINISTRATOR = ProgramOutput(
    "GitHub is read with this machine's login, which is for administrators.", failed=True
)


class GitHub(ProgramPanel):
    position = 140
    key = "github"
    title = "GitHub"
    description = "Open issues and pull requests, by this machine’s “gh” login."

    def program(self, session: Session) -> Callable[[], ProgramOutput]:
        if not session.owner.is_superuser:
            return lambda: NOT_ADMINISTRATOR
        return partial(github_lists, workspace_of(session.owner_id).root)


def github_lists(folder: Path) -> ProgramOutput:
    """Issues, then pull requests. `gh` runs in an empty folder, so that it reads no repository settings."""
    if not (program := shutil.which("gh")):
        return ProgramOutput("The program “gh” is not installed on this machine.", failed=True)
    try:
        name = github_name(folder)
    except WorkspaceError as error:
        return ProgramOutput(error.message, failed=True)
    login = {key: os.environ[key] for key in GH_LOGIN_VARIABLES if key in os.environ}
    texts = []
    with TemporaryDirectory(prefix="pipeweb-gh-") as empty:
        for noun, title in (("issue", "Open issues"), ("pr", "Open pull requests")):
            argv = (program, noun, "list", "--repo", name, "--state", "open", "--limit", str(GH_ROWS))
            printed = run_program(argv, Path(empty), timeout=GH_TIMEOUT, extra={**login, **GH_ENVIRONMENT})
            if printed.failed:
                return printed
            texts.append(f"{title} of {name}, the newest {GH_ROWS} at most:\n{printed.text or 'none'}")
    return ProgramOutput("\n\n".join(texts))
