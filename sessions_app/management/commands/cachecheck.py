"""`manage.py cachecheck`: whether the current code and prompts still send what stored sessions sent."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from sessions_app.management.session_arguments import add_session_arguments, chosen_sessions
from sessions_app.panels import available_tools
from sessions_app.runs.cachecheck import PrefixCheck, Unknown, check_session
from sessions_app.wording.break_lines import change, place
from sessions_app.wording.sources import source_name

UNKNOWN = {
    Unknown.CAPTURED: "its requests are another program’s, which our prompts do not make",
    Unknown.PURGED: "the payload of what was sent was purged",
}


class Command(BaseCommand):
    help = (
        "Prepare the last request of each session again and compare it with what was sent. Nothing is sent "
        "and nothing is written. Exits with 1 when the static layer or the warm prefix would change, with 2 "
        "when a session does not exist."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_session_arguments(parser)
        parser.add_argument("--strict", action="store_true", help="a panel that moved on is a change too")
        parser.add_argument("--json", action="store_true", help="one JSON array instead of lines")

    def handle(self, *args: Any, sessions: list[str], **options: Any) -> None:
        chosen = chosen_sessions(sessions, all_of_them=options["all"])
        findings = [
            check_session(session, available_tools(session.owner_id), strict=options["strict"])
            for session in chosen
        ]
        if options["json"]:
            found = [finding.stored() | {"sentences": lines_of(finding)} for finding in findings]
            self.stdout.write(json.dumps(found, indent=2))
        else:
            self.stdout.write("\n".join(line for finding in findings for line in lines_of(finding)))
        if any(finding.is_changed for finding in findings):
            sys.exit(1)


def lines_of(finding: PrefixCheck) -> list[str]:
    """One line, and for a changed session the place and both sides."""
    name = f"{finding.session}  “{finding.title}”"
    if finding.unknown is not None:
        return [f"unknown  {name}: {UNKNOWN[finding.unknown]}"]
    if not finding.exchange:
        return [f"same     {name}: nothing was sent yet"]
    moved = f"; moved on: {', '.join(map(source_name, finding.moved_on))}" if finding.moved_on else ""
    if not finding.is_changed:
        return [f"same     {name}: exchange {finding.exchange}, about {finding.tokens:,} tokens{moved}"]
    if finding.problem:
        return [f"CHANGED  {name}: exchange {finding.exchange} could not be prepared: {finding.problem}"]
    static = "the static layer is the same" if finding.static_same else "the static layer changes"
    warm = f"{finding.prefix_tokens:,} of {finding.tokens:,} tokens stay warm"
    return [f"CHANGED  {name}: exchange {finding.exchange}: {static}, {warm}{moved}", *_sides(finding)]


def _sides(finding: PrefixCheck) -> list[str]:
    broken = finding.broken
    if broken is None:
        return []
    return [
        f"         at {place(broken)}: {change(broken)}",
        f"         then  {broken.before}[-{broken.was}-]",
        f"         now   {broken.before}[+{broken.now}+]",
    ]
