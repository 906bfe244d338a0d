"""Static files are collected again where they say something else, whatever their times."""

import os
from pathlib import Path

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from pytest_django import Settings

from pipeweb.storage import EARLIEST


@pytest.fixture
def sources(tmp_path: Path, settings: Settings) -> Path:
    """A folder of sources, in place of our own, with one file; the storage is that of a deployment."""
    backend = {"BACKEND": "pipeweb.storage.HashedFiles"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": backend}
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "page.css").write_text("a { color: red }")
    settings.STATICFILES_DIRS = [folder]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = str(tmp_path / "static")
    return folder


def collect() -> None:
    call_command("collectstatic", verbosity=0, interactive=False)


def test_a_source_that_is_older_than_what_was_collected_is_collected(sources: Path, tmp_path: Path) -> None:
    collect()
    (sources / "page.css").write_text("a { color: blue }")
    os.utime(sources / "page.css", (1, 1))
    collect()
    assert "blue" in (tmp_path / "static/page.css").read_text()


def test_the_same_bytes_are_not_written_again(sources: Path, tmp_path: Path) -> None:
    collect()
    before = (tmp_path / "static/page.css").stat().st_mtime_ns
    os.utime(sources / "page.css")
    collect()
    assert (tmp_path / "static/page.css").stat().st_mtime_ns == before


def test_what_has_no_source_is_before_every_one(sources: Path, tmp_path: Path) -> None:
    collect()
    (sources / "page.css").unlink()
    assert staticfiles_storage.get_modified_time("page.css") == EARLIEST
