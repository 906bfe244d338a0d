"""The form of a log line, and which libraries may write one."""

import json
import logging

import pytest

from pipeweb.logs import NOISY_LOGGERS, formatter, logging_config


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
