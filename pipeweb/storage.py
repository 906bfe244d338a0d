"""Storage of the static files: hashed names, which browsers may keep for a year, and compressed copies."""

from datetime import UTC, datetime
from pathlib import Path

from django.contrib.staticfiles import finders
from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

EARLIEST, LATEST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


class HashedFiles(CompressedManifestStaticFilesStorage):
    def url(self, name: str, force: bool = False) -> str:  # type: ignore[override]
        """Hashed as soon as `up` or `collectstatic` has collected the files, also in local use.

        Plain before that: a page that a test or a bench renders needs no collected files.
        """
        if not self.hashed_files:
            return FileSystemStorage.url(self, name)
        return str(super().url(name, force=True))

    def get_modified_time(self, name: str) -> datetime:
        """For `collectstatic`: after every source where the file has the bytes of its own, else before all.

        Times tell nothing: a new version may be older than what lies in a data folder that was copied.
        """
        source = finders.find(name)
        is_same = source is not None and Path(source).read_bytes() == Path(self.path(name)).read_bytes()
        return LATEST if is_same else EARLIEST
