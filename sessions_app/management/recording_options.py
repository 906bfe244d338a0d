"""`manage.py conform --recordings`: judges the emulator by recorded traffic, without database or provider."""

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from sessions_app.conform.recordings.judging import AT_LEAST, judge_folder
from sessions_app.errors import PipewebError


def add_recording_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--recordings", type=Path, metavar="FOLDER", help="judge the emulator by recorded traffic instead")
    add(
        "--at-least",
        type=float,
        default=AT_LEAST,
        metavar="PERCENT",
        help=f"with --recordings: end with an error below this rate; default: {AT_LEAST:g}",
    )
    add(
        "--leave-one-out",
        action="store_true",
        help="with --recordings: judge each source by the rules derived from the others",
    )
    add("--rules", action="store_true", help="with --recordings: print what decides the form of an answer")


def judge_recordings(options: dict[str, Any], say: Callable[[str], object]) -> None:
    """Raises CommandError below the rate that is asked for, and without a recording."""
    folder, at_least = options["recordings"], options["at_least"]
    if not folder.is_dir():
        raise CommandError(f"{folder} is no folder.")
    try:
        rate = judge_folder(folder, say, rules=options["rules"], each_source=options["leave_one_out"])
    except PipewebError as error:
        raise CommandError(f"{error} {error.hint}".strip()) from error
    if rate < at_least:
        raise CommandError(f"{rate:.1f} % are equal in form; at least {at_least:g} % should be.")
