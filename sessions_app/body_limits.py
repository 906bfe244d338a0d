"""How large the body of a request may be: a few routes take files, every other route takes forms.

Checked in the browser before anything is sent, by nginx (`deployment/nginx.conf`), and by `pipeweb.bodies`
in every server.
"""

from collections.abc import Mapping

from sessions_app.media import FILE_LIMIT
from sessions_app.workspace import UPLOAD_LIMIT

FORM_LIMIT = 2_500_000
"""Bytes of a form without files."""

FORM_FIELDS = 2_500
"""Fields of a form; one of the admin has a field for each of the rows that an action takes."""

FORM_AROUND = 100_000
"""Bytes of the multipart form around a file."""

IMPORT_LIMIT = 50 * 2**20
"""Bytes of an imported session."""

HAR_LIMIT = 50 * 2**20
"""Bytes of an imported HTTP archive."""

FILL_LIMIT = 20_000_000
"""Bytes of the files that are put into a workspace with one form."""

FILE_LIMITS: Mapping[str, int] = {
    "attach": FILE_LIMIT,
    "fill": FILL_LIMIT,
    "har": HAR_LIMIT,
    "import": IMPORT_LIMIT,
    "upload": UPLOAD_LIMIT,
}
"""Bytes of one file, by the name of the route that takes it."""


def takes_file(route: str) -> bool:
    return route in FILE_LIMITS


def body_limit(route: str) -> int:
    """Bytes of a whole body, with the form around a file."""
    return FILE_LIMITS[route] + FORM_AROUND if route in FILE_LIMITS else FORM_LIMIT
