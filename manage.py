#!/usr/bin/env python3
"""The command line of Pipeweb: `up`, `test`, `link`, and every command of Django.

Works on a bare machine: the bootstrap makes `.venv` first and goes on inside it.
"""

import gc
import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036  an older Python must read one line, not a traceback
    sys.exit("pipeweb: needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])  # noqa: UP031
if os.name == "nt":
    sys.exit("pipeweb: Windows is not supported; run it inside WSL.")


def main(arguments: list[str]) -> int:
    from pipeweb.bootstrap import Refusal, enter, say

    try:
        enter(arguments)
        return run_tests(arguments[1:]) if arguments[:1] == ["test"] else run_command(arguments)
    except Refusal as refusal:
        return say(str(refusal), code=refusal.code)
    except KeyboardInterrupt:
        return 130


def run_tests(arguments: list[str]) -> int:
    """Arguments go to pytest; without any the whole suite runs, three processes for two cores."""
    import pytest

    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    everything = [
        "-n",
        str(-(-(os.cpu_count() or 1) * 3 // 2)),
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
    ]
    return int(pytest.main(arguments or everything))


def run_command(arguments: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    if arguments[:1] == ["up"]:
        # Collecting between imports finds nothing and takes a fifth of the start; `up` turns it on again.
        gc.disable()
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    from pipeweb.bootstrap import say
    from sessions_app.errors import SettingsError

    try:
        execute_from_command_line([__file__, *arguments])
    except SettingsError as error:
        return say(f"{error} {error.hint}".strip(), code=2)
    except DatabaseError as error:
        if "--traceback" in arguments:
            raise
        return say(f"the database: {error}. If it is new or of an older version: python3 manage.py migrate")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
