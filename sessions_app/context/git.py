"""What git says about the workspace, read without believing anything that its repository says about git.

A repository can carry settings that run programs (fsmonitor, hooks, filters, pagers), and a model can
write such files into a workspace. So git never sees the repository's own folder: it gets a fresh one
with settings of ours, into which only the data is linked. There is no search for a repository either,
so that of a parent folder is never found.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sessions_app.context.programs import Printed, run_program
from sessions_app.errors import WorkspaceError

TIMEOUT = 2.0
"""Seconds that git may take."""

COMMITS = 20

SETTINGS = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"

LINKED = ("refs", "packed-refs", "shallow")

NO_TRUST = {
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

GITHUB = re.compile(r"(?:https://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?")

HEAD_LIMIT = 1_000


def git_status(folder: Path) -> Printed:
    return _ask(folder, STATUS)


def git_log(folder: Path) -> Printed:
    return _ask(folder, LOG)


def github_name(folder: Path) -> str:
    """owner/name of the repository's origin on GitHub. Raises WorkspaceError when it has none."""
    config = _repository(folder) / "config"
    argv = ("git", "config", "--file", str(config), "--no-includes", "--get", "remote.origin.url")
    url = run_program(argv, folder, timeout=TIMEOUT, extra=NO_TRUST).text
    if not (match := GITHUB.fullmatch(url.strip())):
        raise WorkspaceError("The workspace's repository has no origin on github.com.")
    return match[1]


def _ask(folder: Path, question: tuple[str, ...]) -> Printed:
    try:
        with _clean_room(_repository(folder)) as environment:
            extra = {**NO_TRUST, **environment, "GIT_WORK_TREE": str(folder)}
            return run_program(("git", *OPTIONS, *question), folder, timeout=TIMEOUT, extra=extra)
    except WorkspaceError as error:
        return Printed(error.message, failed=True)


def _repository(folder: Path) -> Path:
    """The .git of this very folder. Raises WorkspaceError for none, and for one that leads elsewhere."""
    found = folder / ".git"
    if found.is_symlink() or found.is_file():
        raise WorkspaceError("The workspace's repository lies elsewhere and is not read.")
    if not (found / "HEAD").is_file() or not (found / "objects").is_dir():
        raise WorkspaceError("The workspace is not a git repository of its own.")
    suspects = ("HEAD", "config", "index", "objects", "objects/pack", "objects/info", *LINKED)
    borrows = (found / "objects" / "info" / "alternates").exists()
    if borrows or any((found / name).is_symlink() for name in suspects):
        raise WorkspaceError("The workspace's repository borrows from elsewhere and is not read.")
    return found


@contextmanager
def _clean_room(repository: Path) -> Iterator[Mapping[str, str]]:
    """A git folder of ours over the repository's data, as environment variables."""
    try:
        with (repository / "HEAD").open("rb") as file:
            head = file.read(HEAD_LIMIT)
        with TemporaryDirectory(prefix="pipeweb-git-") as name:
            room = Path(name)
            (room / "HEAD").write_bytes(head)
            (room / "config").write_text(SETTINGS)
            for linked in LINKED:
                if (repository / linked).exists():
                    (room / linked).symlink_to(repository / linked)
            yield {
                "GIT_DIR": name,
                "GIT_OBJECT_DIRECTORY": str(repository / "objects"),
                "GIT_INDEX_FILE": str(repository / "index"),
            }
    except OSError as error:
        raise WorkspaceError("The workspace's repository cannot be read.") from error
