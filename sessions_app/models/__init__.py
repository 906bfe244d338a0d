"""Rows and their verbs, one file per noun."""

from sessions_app.models.blob import Blob
from sessions_app.models.cache import CacheEntry
from sessions_app.models.chunk import RawChunk
from sessions_app.models.exchange import Dialect, Exchange, SentItem, Source
from sessions_app.models.link import SignInLink
from sessions_app.models.log import RunLog
from sessions_app.models.queued import QueuedMessage
from sessions_app.models.resources import Artifact, Reference, Todo
from sessions_app.models.run import Run
from sessions_app.models.session import Session, SessionSettings
from sessions_app.models.text import PromptText
from sessions_app.models.turn import Turn

__all__ = [
    "Artifact",
    "Blob",
    "CacheEntry",
    "Dialect",
    "Exchange",
    "PromptText",
    "QueuedMessage",
    "RawChunk",
    "Reference",
    "Run",
    "RunLog",
    "SentItem",
    "Session",
    "SessionSettings",
    "SignInLink",
    "Source",
    "Todo",
    "Turn",
]
