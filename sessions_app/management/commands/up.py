"""`manage.py up`: prepares the database and serves Pipeweb."""

import gc
import ipaddress
import multiprocessing
import os
import socket
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from operator import attrgetter
from pathlib import Path
from threading import Thread
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http.request import validate_host
from django.urls import reverse

from pipeweb.memory import release_free_memory
from pipeweb.private_files import make_private
from sessions_app.accounts.owner import has_password, local_owner
from sessions_app.context.api_key import keys
from sessions_app.hosts import GOOGLE, host_of
from sessions_app.management import served_address
from sessions_app.management.bounded_arguments import LARGEST_PORT, whole_number
from sessions_app.management.listening import address_of, listen
from sessions_app.models import CacheEntry, SignInLink
from sessions_app.prompt.caching import EntryReason
from sessions_app.wording.api_key import WHY_NO_KEY


class Command(BaseCommand):
    help = "Prepare the database, then serve Pipeweb and print where. Ctrl-C ends it."
    # The tests run the checks; here they would delay the start.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument(
            "--port",
            type=whole_number(0, LARGEST_PORT),
            default=8000,
            help="0 takes a free port (default: %(default)s)",
        )

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        # First, so that a taken port is reported at once.
        listener = listen(host, port)
        make_private(data_paths())
        in_child(prepare)
        if not is_loopback(host) and not has_password():
            raise CommandError(
                f"--host {host} lets other machines in, so an administrator needs a password first: "
                "python3 manage.py createsuperuser"
            )
        self.serve(listener, local_owner(), host)

    def serve(self, listener: socket.socket, owner: User, host: str) -> None:
        from pipeweb.asgi import application
        from pipeweb.composition import build_emulator, build_runner
        from sessions_app.runs import demo_session

        log_no_statements()
        # Also where a key is set: it may be removed while the server runs.
        CacheEntry.objects.forget(build_emulator().route, EntryReason.EMULATOR_RESTARTED)
        demo_session.ensure_demo_session(owner, lambda: build_runner(build_emulator()))
        base = address_of(listener)
        # Daphne owns the descriptor from here and closes it at the end.
        endpoints = build_endpoint_description_strings(file_descriptor=listener.detach())
        gc.collect()  # What preparing took.
        release_free_memory()
        gc.enable()  # `manage.py` turned it off, and `prepare` turns it on in its own process only.
        # No access log: it would contain sign-in tokens.
        server = Server(application, endpoints, ready_callable=lambda: self.print_address(base, owner, host))
        try:
            server.run()
        finally:
            served_address.forget(base)

    def print_address(self, base: str, owner: User, host: str) -> None:
        served_address.keep(base)
        if is_loopback(host):
            link = base + reverse("sign-in-link", args=[SignInLink.issue(owner)])
            self.stdout.write(f"Pipeweb is up: {link}\n  (signs you in once, within ten minutes)")
        else:
            self.stdout.write(f"Pipeweb is up: {base}")
        for line in remarks(base, host):
            self.stdout.write(f"  {line}")
        self.stdout.write(f"Answers come from {provider()}. Ctrl-C ends it.")
        self.stdout.flush()


def remarks(base: str, host: str) -> Iterator[str]:
    """What the settings ask of whoever opens the address that is printed."""
    name = base.removeprefix("http://").rpartition(":")[0]
    if not is_loopback(host) or not validate_host(name, settings.ALLOWED_HOSTS):
        yield f"It answers to these names only (ALLOWED_HOSTS): {', '.join(settings.ALLOWED_HOSTS)}"
    if not settings.DEBUG:
        yield "DEBUG is off: chats work behind https only, see sessions_app/DEPLOYMENT.md"


def prepare() -> None:
    """Migrates the database and collects static files."""
    gc.enable()  # Migrating makes every model anew for each state.
    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    call_command("collectstatic", verbosity=0, interactive=False)


def in_child(work: Callable[[], None]) -> None:
    """Does it in a fork, where the system has them, which takes along what it leaves in memory.

    Raises what `work` raises.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        work()
        return
    connections.close_all()
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=fork, initializer=end_with_parent) as child:
        child.submit(work).result()


def end_with_parent() -> None:
    """Ends this process when its parent is gone: it would wait for more work, and keep the port."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()


def log_no_statements() -> None:
    """Keeps Django from storing its newest 9,000 statements, with all parameters, while DEBUG is on."""
    setattr(BaseDatabaseWrapper, "queries_logged", property(attrgetter("force_debug_cursor")))  # noqa: B010


def data_paths() -> list[Path]:
    """The folders with data, and an SQLite database with its files, wherever it lies."""
    paths = [Path(settings.PIPEWEB_DATA), Path(settings.PIPEWEB_WORKSPACES)]
    if connection.vendor == "sqlite":
        database = Path(settings.DATABASES["default"]["NAME"])
        paths += [database.with_name(database.name + suffix) for suffix in ("", "-wal", "-shm")]
    return paths


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def provider() -> str:
    key = keys.current()
    if not key.text:
        return f"the built-in Gemini emulator ({WHY_NO_KEY[key.origin]})"
    return host_of(settings.GOOGLE_GEMINI_BASE_URL or GOOGLE)
