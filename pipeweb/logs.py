"""Logging through structlog: lines for a person, or JSON when DEBUG is off.

What people write and what models answer is never logged, and no key or sign-in token either. An
error's own words may quote any of these (a refused row, a value that would not parse), so a line
tells the class of an error and where it was raised, never its message. Statements to the database
carry their values and stay silent on every level.
"""

import logging
import re
import traceback
from collections.abc import Iterator
from typing import Any

SIGN_IN = re.compile(r"(/sign-in/)[^\s/?'\"]+")
OF_A_TASK = re.compile(r"exception=.*", re.S)
"""asyncio writes a lost task into its message, the error's words included."""

WORDY = ("asyncio", "autobahn", "channels", "daphne", "google_genai", "httpcore2", "httpx2")
"""At DEBUG or INFO these repeat headers with the key, paths with tokens, and addresses."""


class Redaction(logging.Filter):
    """Takes sign-in tokens and the words of errors out of the message and its arguments."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_named(argument) for argument in record.args)
        message = record.getMessage()
        told = SIGN_IN.sub(r"\1…", message)
        if record.name == "asyncio":
            told = OF_A_TASK.sub("exception=…", told)
        if told != message:
            record.msg, record.args = told, ()
        return True


def _named(argument: object) -> object:
    return type(argument).__name__ if isinstance(argument, BaseException) else argument


def frames(exc_info: Any) -> str:
    """Classes and places of an exception and of what led to it, newest first."""
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
            **{name: {"level": calm} for name in WORDY},
        },
    }


def formatter(*, json: bool) -> logging.Formatter:
    """Configures structlog as a side, since a process logs in one way only."""
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
