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
    "read": "retrieved",
    "unread": "could not be retrieved",
    "unread_why": "could not be retrieved: {status}",
    "quoted": "quoted",
    "licence": "licence: {licence}",
}


STATUSES = {
    "error": "",
    "unspecified": "",
    "paywall": "behind a paywall",
    "unsafe": "its content is unsafe",
}
"""By the end of `urlRetrievalStatus`; others are shown as they are."""


def unnamed(kind: str) -> str:
    return UNNAMED[kind]


def details(*, is_quoted: bool, licence: str, is_read: bool, status: str = "") -> list[str]:
    """What there is to say of a source beside its name; `status` is empty but for a page to be retrieved."""
    found = [DETAILS["quoted"]] if is_quoted else []
    found += [DETAILS["licence"].format(licence=licence)] if licence else []
    if is_read:
        return [*found, DETAILS["read"]] if status else found
    why = STATUSES.get(status, status.replace("_", " "))
    return [*found, DETAILS["unread_why"].format(status=why) if why else DETAILS["unread"]]
