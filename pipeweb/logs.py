"""Logging through structlog: lines for a person, or JSON when DEBUG is off.

Messages, answers, keys and tokens of addresses are never logged. The message of an error may quote any of
them, so a line has the class of an error and where it was raised, never its message. Statements to the
database contain values and are not logged at any level.
"""

import logging
import re
import traceback
from collections.abc import Iterator
from typing import Any

TOKENS = re.compile(r"(?i)(/(?:sign-in|shared|capture|password|register/mail)/+)[^\s/?'\"]+")
QUERIES = re.compile(r"(?i)(/capture/[^\s?'\"]*\?)[^\s'\"]+")
SECRETS = re.compile(r"(?i)([?&;]\$?(?:key|access_token|upload_id|code|state)=)[^\s&'\"]+")
ENCODED = re.compile(r"%([0-9a-fA-F]{2})")
TASK_EXCEPTION = re.compile(r"exception=.*", re.S)
"""asyncio writes an unretrieved exception of a task into its message."""

NOISY_LOGGERS = (
    "aiohttp",
    "asyncio",
    "autobahn",
    "channels",
    "daphne",
    "google_genai",
    "httpcore2",
    "httpx2",
)
"""At DEBUG or INFO these log headers with the key, paths with tokens, and addresses."""


SERVER_LOGGERS = ("uvicorn", "uvicorn.access", "uvicorn.error")
"""They bring handlers of their own, which would write what comes past the redaction."""


def redacted(text: str) -> str:
    """Without tokens of addresses, queries of relayed requests and keys, also where letters are encoded."""
    plain = ENCODED.sub(_harmless, text)
    found = SECRETS.sub(r"\1…", QUERIES.sub(r"\1…", TOKENS.sub(r"\1…", plain)))
    return text if found == plain else found


def _harmless(encoded: re.Match[str]) -> str:
    character = chr(int(encoded[1], 16))
    return character if character.isascii() and (character.isalnum() or character in "/_-$") else encoded[0]


class Redaction(logging.Filter):
    """Removes tokens of addresses and messages of errors from the message and its arguments."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_class_name(argument) for argument in record.args)
        message = record.getMessage()
        shown = redacted(message)
        if record.name == "asyncio":
            shown = TASK_EXCEPTION.sub("exception=…", shown)
        if shown != message:
            record.msg, record.args = shown, ()
        return True


def _class_name(argument: object) -> object:
    return type(argument).__name__ if isinstance(argument, BaseException) else argument


def frames(exc_info: Any) -> str:
    """Classes and tracebacks of an exception and its causes, newest first."""
    return "\n".join(_places(exc_info[1]))


def _places(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{type(error).__module__}.{type(error).__qualname__}"
        yield from (place.rstrip() for place in traceback.format_tb(error.__traceback__))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def logging_config(level: str, *, json: bool) -> dict[str, Any]:
    """The LOGGING setting. One handler to standard error; every line carries time, level, logger."""
    calm = level if level in {"ERROR", "CRITICAL"} else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"redaction": {"()": Redaction}},
        "formatters": {"line": {"()": formatter, "json": json}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["redaction"]}
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django would print each line a second time through its own console handler.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.db.backends": {"level": "CRITICAL"},
            **{name: {"level": calm} for name in NOISY_LOGGERS},
            **{name: {"handlers": [], "propagate": True} for name in SERVER_LOGGERS},
        },
    }


def formatter(*, json: bool) -> logging.Formatter:
    """The formatter of the handler; also configures structlog for the process."""
    import structlog

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(frames),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer = structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer(colors=False)
    return structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared)
