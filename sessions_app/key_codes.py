"""Where the API key in use comes from."""

from enum import StrEnum


class KeyOrigin(StrEnum):
    """`PROCESS`: entered on the page and kept until the server stops."""

    ENVIRONMENT = "environment"
    PROCESS = "process"
    DATA_FOLDER = "data_folder"
    NONE = "none"
