"""Storage of the static files: hashed names, which browsers may keep for a year, and compressed copies."""

from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedFiles(CompressedManifestStaticFilesStorage):
    def url(self, name: str, force: bool = False) -> str:  # type: ignore[override]
        """Hashed as soon as `up` or `collectstatic` has collected the files, also in local use.

        Plain before that: a page that a test or a bench renders needs no collected files.
        """
        if not self.hashed_files:
            return FileSystemStorage.url(self, name)
        return str(super().url(name, force=True))
