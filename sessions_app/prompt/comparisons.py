"""Codes of what two compared requests can differ in, and of why one cannot be compared."""

from enum import StrEnum


class ComparisonProblem(StrEnum):
    NOT_READ = "not_read"
    NOT_FOUND = "not_found"
    PURGED = "purged"


class StateSubject(StrEnum):
    """What of a session's state differs, in the order of the page."""

    MODEL = "model"
    ENDPOINT = "endpoint"
    SETTING = "setting"
    CACHING = "caching"
    TEXT = "text"
    PANEL = "panel"
    TOOL = "tool"
    HISTORY = "history"
