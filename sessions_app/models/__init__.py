"""Rows and their verbs, one file per noun."""

from sessions_app.models.assistant import Assistant
from sessions_app.models.attachment import Attachment
from sessions_app.models.blob import Blob
from sessions_app.models.cache import CacheEntry
from sessions_app.models.chunk import RawChunk
from sessions_app.models.exchange import Dialect, Exchange
from sessions_app.models.facts import ModelFacts
from sessions_app.models.history import HistoryChunk
from sessions_app.models.lesson import CacheLesson
from sessions_app.models.link import SignInLink
from sessions_app.models.log import RunLog
from sessions_app.models.notes import LogEntry, Memory, Note
from sessions_app.models.notification import Notification
from sessions_app.models.options import SessionSettings
from sessions_app.models.panel import AllowedCommand, PanelState, Reading
from sessions_app.models.price import Allowance, Price, Spending
from sessions_app.models.queued import QueuedMessage
from sessions_app.models.resources import Artifact, Reference, Todo
from sessions_app.models.run import Run
from sessions_app.models.session import Session
from sessions_app.models.source import SentItem, Source
from sessions_app.models.text import PromptText
from sessions_app.models.turn import Turn

__all__ = [
    "Allowance",
    "AllowedCommand",
    "Artifact",
    "Assistant",
    "Attachment",
    "Blob",
    "CacheEntry",
    "CacheLesson",
    "Dialect",
    "Exchange",
    "HistoryChunk",
    "LogEntry",
    "Memory",
    "ModelFacts",
    "Note",
    "Notification",
    "PanelState",
    "Price",
    "PromptText",
    "QueuedMessage",
    "RawChunk",
    "Reading",
    "Reference",
    "Run",
    "RunLog",
    "SentItem",
    "Session",
    "SessionSettings",
    "SignInLink",
    "Source",
    "Spending",
    "Todo",
    "Turn",
]
