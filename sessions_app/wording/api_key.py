"""What the page of the API key says of the key in use."""

from collections.abc import Mapping

from sessions_app.key_codes import KeyOrigin, KeyProblem

ORIGINS: dict[str, str] = {
    KeyOrigin.ENVIRONMENT: (
        "The key is set in the environment as GEMINI_API_KEY. Only a restart with another one changes it."
    ),
    KeyOrigin.PROCESS: "The key was entered here and is kept in memory until the server stops.",
    KeyOrigin.DATA_FOLDER: (
        "The key was entered here and is kept in a file of the data folder that only the "
        "server's user can read."
    ),
    KeyOrigin.UNREADABLE: (
        "The file gemini_key of the data folder is there but cannot be read, so its key does not count and "
        "the built-in emulator answers. Make it a file that the server's user can read, or remove it."
    ),
    KeyOrigin.NONE: (
        "Without a key the built-in emulator answers. It speaks Gemini's protocol and costs nothing, but it "
        "is no model: it cannot know anything."
    ),
}

PLACES: dict[str, str] = {
    KeyOrigin.PROCESS: "Until the server stops",
    KeyOrigin.DATA_FOLDER: "In the data folder, also after a restart",
}
"""The places between which a person chooses."""

SEVERAL_PROCESSES = (
    "This installation runs in several processes (REDIS_URL is set), so only GEMINI_API_KEY in the "
    "environment of each of them counts. Set it there and restart them."
)

KEPT = "From the next message on {host} answers. Answers that are being written end where they began."
REMOVED = "The key is removed. From the next message on the built-in emulator answers."

PROBLEMS: Mapping[KeyProblem, str] = {
    KeyProblem.NOT_KEPT: "The key was not kept: the file gemini_key of the data folder cannot be replaced.",
    KeyProblem.NOT_REMOVED: "The key was not removed: the file gemini_key of the data folder stays there.",
}

PROBLEM_HINT = (
    "Nothing was changed. Remove what stands under that name in the data folder, and see that the server's "
    "user may write there; then try again."
)

IN_SHORT: dict[str, str] = {
    KeyOrigin.ENVIRONMENT: "set by the environment",
    KeyOrigin.PROCESS: "entered here, kept until the server stops",
    KeyOrigin.DATA_FOLDER: "in the data folder",
    KeyOrigin.UNREADABLE: "in a file that cannot be read: answers come from the emulator",
    KeyOrigin.NONE: "none: answers come from the emulator",
}
"""Whether there is a key, for who looks at the installation and may not see it."""

WHY_NO_KEY: Mapping[KeyOrigin, str] = {
    KeyOrigin.UNREADABLE: "the file gemini_key of the data folder cannot be read",
    KeyOrigin.NONE: "no key is set",
}
"""For who starts a server, in brackets."""
