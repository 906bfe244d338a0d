"""Imports a large file in a process of its own and prints its size and the memory it took, in MB."""

import json
import os
import sys
import uuid
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.test.utils import setup_databases  # noqa: E402

from sessions_app.chat.imports import add_job, run_job  # noqa: E402
from sessions_app.management.commands.up import log_no_statements  # noqa: E402

SIZES = {"turns": (2_000, 800), "texts": (3, 520_000), "media": (3, 580_000)}
"""Number of turns, and of sentences in each; media are as many bytes that no compression makes fewer."""


def written(kind: str) -> Iterator[bytes]:
    """The file, piece by piece."""
    count, sentences = SIZES[kind]
    parent = None
    yield b'{"exported_at": "2026-01-01T00:00:00Z", "session": {"model": "m"}, "turns": ['
    for number in range(count):
        key = str(uuid.uuid4())
        sentence = f"Sentence {number} of a talk.\n"
        text = sentence * sentences
        if kind == "media":
            text = b64encode(os.urandom(len(text) * 3 // 4)).decode()
        content = json.dumps({"role": "user", "parts": [{"text": text}]})
        turn: dict[str, Any] = {"key": key, "parent": parent, "kind": "user_task", "content": content}
        yield (b", " if number else b"") + json.dumps(turn).encode()
        parent = key
    yield b"]}"


def resident() -> float:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line)
    return int(line.split()[1]) / 1024


def main(kind: str) -> None:
    log_no_statements()
    setup_databases(0, interactive=False)
    path = Path(os.environ["PIPEWEB_DATA"]) / "large.json"
    with path.open("wb") as file:
        file.writelines(written(kind))
    job = add_job(User.objects.create_user("alice"), "large.json", iter([path.read_bytes()]))
    before, is_over, peaks = resident(), Event(), [0.0]

    def watch() -> None:
        while not is_over.wait(0.01):
            peaks.append(resident())

    watcher = Thread(target=watch)
    watcher.start()
    run_job(job.pk, "memory")
    is_over.set()
    watcher.join()
    job.refresh_from_db()
    grown = max(peaks) - before
    print(json.dumps({"state": job.state, "file": path.stat().st_size / 2**20, "grown": grown}))


if __name__ == "__main__":
    main(sys.argv[1])
