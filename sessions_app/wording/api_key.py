"""What the page of the API key says of the key in use."""

from sessions_app.key_codes import KeyOrigin

ORIGINS: dict[str, str] = {
    KeyOrigin.ENVIRONMENT: (
        "The key is set in the environment as GEMINI_API_KEY. Only a restart with another one changes it."
    ),
    KeyOrigin.PROCESS: "The key was entered here and is kept in memory until the server stops.",
    KeyOrigin.DATA_FOLDER: (
        "The key was entered here and is kept in a file of the data folder that only the "
        "server's user can read."
    ),
    KeyOrigin.NONE: (
        "Without a key the built-in simulator answers. It speaks Gemini's protocol and costs nothing, but it "
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
REMOVED = "The key is removed. From the next message on the built-in simulator answers."

IN_SHORT: dict[str, str] = {
    KeyOrigin.ENVIRONMENT: "set by the environment",
    KeyOrigin.PROCESS: "entered here, kept until the server stops",
    KeyOrigin.DATA_FOLDER: "in the data folder",
    KeyOrigin.NONE: "none: answers come from the emulator",
}
"""Whether there is a key, for who looks at the installation and may not see it."""
