"""Words at the sources of an answer."""

UNNAMED = {
    "web": "A page without a name",
    "page": "A page without a name",
    "file": "A text of a file store",
    "map": "A place on a map",
    "quoted": "A text without a name",
}
"""The title of a source of this kind that came without one, and without an address."""

DETAILS = {
    "unread": "could not be retrieved",
    "quoted": "quoted",
    "licence": "licence: {licence}",
}
