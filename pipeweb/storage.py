"""Storage of the static files of a deployment: hashed, compressed, module imports rewritten."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

MODULES = "js/*.js"
"""Only our own modules; those of packages import names that only their bundlers know."""


class HashedFiles(CompressedManifestStaticFilesStorage):
    # Without this a module imports another by a name without a hash, which browsers may have cached.
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        (MODULES, CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined]
    )
