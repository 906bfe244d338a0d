"""The form of a log line, and which libraries may write one."""

import json
import logging
import logging.config
from collections.abc import Iterator
from typing import Any

import pytest

from pipeweb.logs import NOISY_LOGGERS, SERVER_LOGGERS, formatter, logging_config, redacted


def record(message: str, *values: object) -> logging.LogRecord:
    return logging.LogRecord("pipeweb", logging.WARNING, "file", 1, message, values, None)


def test_a_deployment_logs_json() -> None:
    line = json.loads(formatter(json=True).format(record("run %s ended", 7)))
    assert (line["event"], line["level"], line["logger"]) == ("run 7 ended", "warning", "pipeweb")
    assert line["timestamp"].endswith("Z")


def test_a_person_reads_plain_lines() -> None:
    line = formatter(json=False).format(record("run %s ended", 7))
    assert "run 7 ended" in line and "\x1b" not in line


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING"])
def test_libraries_that_repeat_content_stay_calm(level: str) -> None:
    loggers = logging_config(level, json=True)["loggers"]
    assert {loggers[name]["level"] for name in NOISY_LOGGERS} == {"WARNING"}


def test_a_stricter_level_holds_for_everybody() -> None:
    assert logging_config("ERROR", json=True)["loggers"]["httpx2"]["level"] == "ERROR"


@pytest.mark.parametrize(
    "path",
    [
        "/capture/SECRET",
        "/capture/SECRET/v1beta/models/x:generateContent?alt=sse&key=SECRET",
        "/capture/abc/upload/v1beta/files?upload_id=SECRET&x=1",
        "/capture/abc/v1beta/models?%6bey=SECRET",
        "//capture//SECRET/v1",
        "/%63apture/SECRET/v1",
        "/capture%2FSECRET",
        "/Capture/SECRET",
        "/shared/SECRET/",
        "/shared/SECRET/files/1/",
        "/sign-in/SECRET",
        "/password/1-SECRET/",
        "/register/mail/SECRET/",
        "/sign-in/with/provider/back/?code=SECRET&state=SECRET",
        "/anywhere?KEY=SECRET",
        "/anywhere?a=b&access_token=SECRET",
        "/anywhere?%24key=SECRET",
        "/anywhere?upload_id=SECRET",
        "https://provider.example/v1beta/models?key=SECRET",
    ],
)
def test_no_token_and_no_key_passes(path: str) -> None:
    shown = redacted(f'"GET {path} HTTP/1.1" 404')
    assert "SECRET" not in shown and shown.startswith('"GET ') and shown.endswith(' HTTP/1.1" 404')


@pytest.mark.parametrize(
    "line", ["GET /sessions/?q=key", "GET /capture/ 200", "a%20b%0ac 100 % done", "monkey=1"]
)
def test_other_lines_stay_as_they_are(line: str) -> None:
    assert redacted(line) == line


def test_what_it_decodes_makes_no_second_line() -> None:
    assert "\n" not in redacted("GET /capture/SECRET%0a%0dGET /x")


@pytest.fixture
def configured_after(settings: Any) -> Iterator[None]:
    yield
    logging.config.dictConfig(settings.LOGGING)


@pytest.mark.usefixtures("configured_after")
def test_lines_of_another_server_pass_through_the_redaction() -> None:
    access = logging.getLogger("uvicorn.access")
    access.addHandler(logging.NullHandler())
    access.propagate = False
    logging.config.dictConfig(logging_config("INFO", json=True))
    assert all(
        not logging.getLogger(name).handlers and logging.getLogger(name).propagate for name in SERVER_LOGGERS
    )
    (handler,) = logging.getLogger().handlers
    line = logging.LogRecord(
        "uvicorn.access",
        logging.INFO,
        "file",
        1,
        '%s - "%s %s"',
        ("1.2.3.4:5", "GET", "/capture/SECRET/v1"),
        None,
    )
    assert handler.filter(line) and "SECRET" not in line.getMessage()
