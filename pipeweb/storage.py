"""Storage of the static files: hashed names, which browsers may keep for a year, and compressed copies."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedFiles(CompressedManifestStaticFilesStorage):
    def url(self, name: str, force: bool = False) -> str:  # type: ignore[override]
        """Also in local use, where Django hashes nothing, once `up` has collected the files."""
        return str(super().url(name, force or bool(self.hashed_files)))
