"""Where the API key in use comes from, and why it cannot be changed."""

from enum import StrEnum


class KeyOrigin(StrEnum):
    """`PROCESS`: entered on the page and kept until the server stops. `UNREADABLE`: there is none, but a
    file in the place of one.
    """

    ENVIRONMENT = "environment"
    PROCESS = "process"
    DATA_FOLDER = "data_folder"
    UNREADABLE = "unreadable"
    NONE = "none"


class KeyProblem(StrEnum):
    """What the system refused to do with the key's file; the key in use stays."""

    NOT_KEPT = "not_kept"
    NOT_REMOVED = "not_removed"
