#!/usr/bin/env python3
"""The command line of Pipeweb: `up`, `test`, `bench`, `link`, and every command of Django.

Works on a bare machine: the bootstrap makes `.venv` first and continues inside it.
"""

import errno
import gc
import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036  an older Python must read one line, not a traceback
    sys.exit("pipeweb: needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])  # noqa: UP031
if os.name == "nt":
    sys.exit("pipeweb: Windows is not supported; run it inside WSL.")


def main(arguments: list[str]) -> int:
    from pipeweb.bootstrap import BootstrapError, enter_environment, print_error

    try:
        enter_environment(arguments)
        return run_tests(arguments[1:]) if arguments[:1] == ["test"] else run_command(arguments)
    except BootstrapError as error:
        return print_error(str(error), code=error.code)
    except KeyboardInterrupt:
        return 130


def run_tests(arguments: list[str]) -> int:
    """Runs pytest: everything without arguments, `fast` for the fast tier, else the arguments as they are.

    Whole tiers run in three processes for two cores. The fast tier leaves out what starts browsers,
    servers or other processes; what follows `fast` goes to pytest.
    """
    import pytest

    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    workers = -(-(os.cpu_count() or 1) * 3 // 2)
    parallel = ["-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"]
    if arguments[:1] == ["fast"]:
        arguments = ["-m", "not (browser or deployment or slow)", *parallel, *arguments[1:]]
    return int(pytest.main(arguments or parallel))


def execute(argv: list[str]) -> None:
    """A command of Django or of Pipeweb; `bench` stands beside the tests, outside of the app."""
    if argv[1:2] == ["bench"]:
        from tests.bench.command import main as run_bench

        run_bench(argv)
    else:
        from django.core.management import execute_from_command_line

        execute_from_command_line(argv)


UNUSED = ("OpenSSL", "aiohttp", "cbor2", "click", "greenlet", "rich")
"""What Daphne, google-genai and structlog import where it is installed, for nothing that `up` does."""

NO_STORAGE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""What a disk says that is full or read-only."""

WAMP = "autobahn.twisted.wamp"
"""What Autobahn's WebSocket imports for its package only, and cryptography with it."""


def import_libraries() -> None:
    """Imports the libraries of `up` without `UNUSED` and `WAMP`, which take 30 MB.

    What is needed later is imported then: aiohttp by the first request to a provider, for one.
    """
    sys.modules |= dict.fromkeys(UNUSED)  # type: ignore[arg-type]
    wamp: Any = sys.modules.setdefault(WAMP, ModuleType(WAMP))
    wamp.ApplicationSession = None
    try:
        for name in ("daphne.server", "google.genai", "structlog"):
            import_module(name)
    finally:
        # It serves plain HTTP: without OpenSSL Twisted leaves out TLS, for as long as the process runs.
        for name in (*UNUSED[1:], WAMP):
            del sys.modules[name]


def run_command(arguments: list[str]) -> int:
    from pipeweb.private_files import PRIVATE

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeweb.settings")
    if arguments[:1] == ["up"]:
        # Before the settings make the first folder.
        os.umask(PRIVATE)
        # Collecting between imports finds nothing and takes a fifth of the start; `up` turns it on again
        # before it serves.
        gc.disable()
        import_libraries()
    from django.db import DatabaseError

    from pipeweb.bootstrap import print_error
    from sessions_app.errors import SettingsError

    try:
        execute([__file__, *arguments])
    except SettingsError as error:
        return print_error(f"{error} {error.hint}".strip(), code=2)
    except DatabaseError as error:
        if "--traceback" in arguments:
            raise
        return print_error(describe(error))
    except OSError as error:
        if error.errno not in NO_STORAGE or "--traceback" in arguments:
            raise
        where = f" ({error.filename})" if error.filename else ""
        return print_error(f"the disk: {error.strerror}{where}. The data lies in PIPEWEB_DATA.")
    return 0


def describe(error: Exception) -> str:
    """One line of what the database, or its driver, says. Only a table that is missing asks for `migrate`."""
    from django.db import OperationalError

    words = " ".join(str(error).split()).rstrip(".?")
    if isinstance(error, OperationalError) and not words.startswith("no such"):
        return f"the database: {words}. DATABASE_URL says which one; the default is a file in PIPEWEB_DATA."
    return f"the database: {words}. If it is new or of an older version: python3 manage.py migrate"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
