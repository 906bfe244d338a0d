"""`manage.py emulator`: serves the Gemini emulator."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.core.management.base import BaseCommand, CommandError

from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.asgi import EmulatorApplication
from sessions_app.emulator.faults import UNKIND, unkind
from sessions_app.emulator.service import Emulator
from sessions_app.emulator.slash_commands import SLASH_COMMANDS, CommandUse, parse_faults
from sessions_app.management.bounded_arguments import LARGEST_PORT, whole_number
from sessions_app.management.listening import address_of, listen


class Command(BaseCommand):
    help = "Serve the Gemini emulator, for google-genai or any other client. Ctrl-C ends it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        words = ", ".join(f"{command.example} ({command.meaning})" for command in SLASH_COMMANDS.values())
        parser.epilog = f"Words in a message that change the answer: {words}."
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument(
            "--port", type=whole_number(0, LARGEST_PORT), default=8085, help="0 takes a free port"
        )
        parser.add_argument(
            "--fault",
            action="append",
            default=[],
            metavar="'WORDS; p=0.3; seed=7'",
            help="a command's words without the slash, for every request or by chance; may be repeated",
        )
        parser.add_argument(
            "--unkind",
            nargs="?",
            const="seed=0",
            default="",
            metavar="seed=N",
            help=f"many faults at modest rates: {UNKIND}",
        )
        parser.add_argument("--replay", type=Path, metavar="FOLDER", help="recordings to serve again")
        parser.add_argument("--delay", type=float, default=20.0, help="milliseconds before each chunk")

    def handle(self, *args: Any, host: str, port: int, delay: float, **options: Any) -> None:
        emulator = build(delay / 1000, options["fault"], options["replay"], options["unkind"])
        application = EmulatorApplication(
            emulator, break_off=lambda scope, is_clean: break_off(server, scope, is_clean)
        )
        listener = listen(host, port)
        base = address_of(listener)
        # Daphne owns the descriptor from here and closes it at the end.
        endpoints = build_endpoint_description_strings(file_descriptor=listener.detach())
        server: Any = Server(application, endpoints, ready_callable=lambda: self._print_address(base))
        server.run()

    def _print_address(self, base: str) -> None:
        use = f"GOOGLE_GEMINI_BASE_URL={base} GEMINI_API_KEY=emulator"
        self.stdout.write(f"Gemini emulator on {base}; point google-genai at it with {use}")
        self.stdout.flush()


def build(delay: float, faults: list[str], recordings: Path | None, unkindness: str = "") -> Emulator:
    """Raises CommandError for an unknown fault or a folder without recordings."""
    if recordings and not recordings.is_dir():
        raise CommandError(f"{recordings} is not a folder")
    try:
        found = parse_faults(",".join(faults)) + _unkind(unkindness)
    except ApiError as error:
        raise CommandError(error.message) from None
    try:
        return Emulator(delay=delay, faults=found, recordings=recordings)
    except ValueError as error:
        raise CommandError(f"{recordings} holds a file that is no recording: {error}") from None


def _unkind(text: str) -> tuple[CommandUse, ...]:
    """The faults of `--unkind`, none without it."""
    if not text:
        return ()
    number = text.removeprefix("seed=")
    if not (number.isascii() and number.isdecimal()):
        raise CommandError(f"--unkind takes seed=N, not {text}")
    return unkind(int(number))


def break_off(server: Any, scope: Mapping[str, Any], is_clean: bool) -> None:
    """Closes or resets the connection of a request, which Daphne would keep alive."""
    for request, details in server.connections.items():
        if request.client_addr == scope["client"] and "disconnected" not in details:
            channel = request.channel
            channel.loseConnection() if is_clean else channel.forceAbortClient()
