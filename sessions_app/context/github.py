"""Open issues and pull requests of the workspace's repository, through the `gh` program.

`gh` uses the login of this machine, which is not everybody's: only an administrator's sessions read
through it. Nothing is installed or asked for; without the program the panel says so.
"""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from sessions_app.context.git import github_name
from sessions_app.context.programs import Printed, run_program
from sessions_app.errors import WorkspaceError

TIMEOUT = 8.0
"""Seconds for each of the two questions; they go over the network, and nobody waits for them."""

LISTED = 20

LOGIN = ("HOME", "XDG_CONFIG_HOME", "GH_CONFIG_DIR", "GH_TOKEN", "GITHUB_TOKEN")
"""What `gh` finds its login by; handed to it and to nothing else."""

QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "GH_PAGER": "cat", "NO_COLOR": "1"}


def github(folder: Path) -> Printed:
    """Issues, then pull requests. It runs in an empty folder, so that it asks no repository anything."""
    if not (program := shutil.which("gh")):
        return Printed("The program “gh” is not installed on this machine.", failed=True)
    try:
        name = github_name(folder)
    except WorkspaceError as error:
        return Printed(error.message, failed=True)
    login = {key: os.environ[key] for key in LOGIN if key in os.environ}
    texts = []
    with TemporaryDirectory(prefix="pipeweb-gh-") as empty:
        for noun, title in (("issue", "Open issues"), ("pr", "Open pull requests")):
            argv = (program, noun, "list", "--repo", name, "--state", "open", "--limit", str(LISTED))
            printed = run_program(argv, Path(empty), timeout=TIMEOUT, extra={**login, **QUIET})
            if printed.failed:
                return printed
            texts.append(f"{title} of {name}:\n{printed.text or 'none'}")
    return Printed("\n\n".join(texts))
