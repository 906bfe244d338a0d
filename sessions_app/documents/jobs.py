"""Documents and web pages as text, each read by a worker process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from sessions_app.error_codes import DocumentProblem
from sessions_app.errors import DocumentRefused

SECONDS = 10.0
"""For fetching a page, and for converting it or a document."""

AT_ONCE = 2
"""Workers of this process; a person has one at most."""

_COMMAND = (sys.executable, "-E", "-s", "-m", "sessions_app.documents.worker")
_ROOT = Path(__file__).resolve().parents[2]


class Job(BaseModel):
    kind: Literal["fetch", "page", "document"]
    url: str = ""
    mime: str = ""
    charset: str = ""
    allows_loopback: bool = False


class Result(BaseModel):
    """Why nothing was made, or what belongs to the bytes that follow."""

    problem: DocumentProblem | None = None
    figures: dict[str, Any] = {}
    title: str = ""
    url: str = ""
    mime: str = ""
    charset: str = ""


@dataclass(frozen=True, slots=True)
class ReadText:
    """`url` is where a page was found; empty for a document."""

    title: str
    text: str
    url: str = ""


class WorkerPlaces:
    """Who has a worker now."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._people: set[int] = set()

    @contextmanager
    def of(self, person: int) -> Iterator[None]:
        """Raises DocumentRefused where there is no place."""
        with self._lock:
            if person in self._people or len(self._people) >= AT_ONCE:
                raise DocumentRefused(DocumentProblem.BUSY)
            self._people.add(person)
        try:
            yield
        finally:
            with self._lock:
                self._people.discard(person)


_places = WorkerPlaces()


def read_document(body: bytes, *, person: int) -> ReadText:
    """The text of a Word document. Raises DocumentRefused."""
    with _places.of(person):
        result, text = _run(Job(kind="document"), body)
    return ReadText(result.title, text.decode())


def read_page(url: str, *, person: int, allows_loopback: bool = False) -> ReadText:
    """The text of a web page. Raises DocumentRefused."""
    with _places.of(person):
        page, body = _run(Job(kind="fetch", url=url, allows_loopback=allows_loopback), b"")
        job = Job(kind="page", url=page.url, mime=page.mime, charset=page.charset)
        result, text = _run(job, body)
    return ReadText(result.title, text.decode(), page.url)


def _run(job: Job, body: bytes) -> tuple[Result, bytes]:
    """Raises DocumentRefused."""
    try:
        done = subprocess.run(  # noqa: S603 (argv is ours)
            _COMMAND,
            input=job.model_dump_json().encode() + b"\n" + body,
            capture_output=True,
            cwd=_ROOT,
            env={},
            timeout=SECONDS,
            check=False,
        )
        line, _, made = done.stdout.partition(b"\n")
        result = Result.model_validate_json(line)
    except subprocess.TimeoutExpired as error:
        raise DocumentRefused(DocumentProblem.TOO_SLOW, seconds=int(SECONDS)) from error
    except ValidationError as error:
        # It was killed, ran out of memory, or met what its library cannot read.
        raise DocumentRefused(DocumentProblem.TOO_COMPLEX) from error
    if result.problem is not None:
        raise DocumentRefused(result.problem, **result.figures)
    return result, made
