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


def unnamed(kind: str) -> str:
    return UNNAMED[kind]


def details(*, is_quoted: bool, licence: str, is_read: bool) -> list[str]:
    """What there is to say of a source beside its name."""
    found = [DETAILS["quoted"]] if is_quoted else []
    found += [DETAILS["licence"].format(licence=licence)] if licence else []
    return found if is_read else [*found, DETAILS["unread"]]
