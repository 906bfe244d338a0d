"""Static files of a deployment: hashed names, compressed, imports between modules rewritten."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

MODULES = "js/*.js"
"""Our own modules. Those of packages import names that only their bundlers know."""


class HashedFiles(CompressedManifestStaticFilesStorage):
    # A module would otherwise import its neighbour by a name without a hash, cached for ever once changed.
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        (MODULES, CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined]
    )
