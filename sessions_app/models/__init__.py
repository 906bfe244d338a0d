"""The models; query sets and methods hold every change of rows."""

from sessions_app.models.allowance import Allowance, Reservation
from sessions_app.models.assistant import Assistant
from sessions_app.models.attachment import Attachment
from sessions_app.models.audit_entry import AuditEntry
from sessions_app.models.blob import Blob
from sessions_app.models.blob_slice import BlobSlice
from sessions_app.models.booking import Booking
from sessions_app.models.cache import CacheEntry
from sessions_app.models.cache_event import CacheEvent
from sessions_app.models.capture_address import CaptureAddress
from sessions_app.models.captured_request import CapturedRequest, CapturedSession
from sessions_app.models.content_grant import ContentGrant
from sessions_app.models.database_probe import DatabaseProbe
from sessions_app.models.dialect import Dialect
from sessions_app.models.exchange import Exchange
from sessions_app.models.exchange_attempt import ExchangeAttempt
from sessions_app.models.file_change import FileChange
from sessions_app.models.folder import Folder
from sessions_app.models.history_chunk import HistoryChunk
from sessions_app.models.history_drop import HistoryDrop
from sessions_app.models.import_job import ImportJob
from sessions_app.models.library import PromptText
from sessions_app.models.mcp_server import McpServer, McpTool, ToolGrant
from sessions_app.models.model_facts import CacheRefusal, ModelFacts
from sessions_app.models.model_lifecycle import ModelLifecycle, SeededLifecycle
from sessions_app.models.notification import Notification
from sessions_app.models.origin import Origin
from sessions_app.models.panel_items import (
    AllowedCommand,
    Artifact,
    LogEntry,
    Memory,
    Note,
    PanelState,
    Reading,
    Reference,
    Todo,
)
from sessions_app.models.personal_limits import PersonalLimits, PersonalUsage
from sessions_app.models.preferences import Preferences, ViewMode
from sessions_app.models.price import Price, SeededPrice
from sessions_app.models.provider_file import ProviderFileRemoval
from sessions_app.models.raw_chunk import RawChunk
from sessions_app.models.retention import RetentionReport, RetentionRules
from sessions_app.models.run import QueuedMessage, Run, RunLog
from sessions_app.models.search_price import SearchPrice, SeededSearchPrice
from sessions_app.models.session import Session
from sessions_app.models.session_settings import SessionSettings
from sessions_app.models.shared_link import SharedFile, SharedLink
from sessions_app.models.sign_in_link import SignInLink
from sessions_app.models.source import SentItem, Source
from sessions_app.models.spending import Spending
from sessions_app.models.tool_call import ToolCall
from sessions_app.models.turn import Turn

__all__ = [
    "Allowance",
    "AllowedCommand",
    "Artifact",
    "Assistant",
    "Attachment",
    "AuditEntry",
    "Blob",
    "BlobSlice",
    "Booking",
    "CacheEntry",
    "CacheEvent",
    "CacheRefusal",
    "CaptureAddress",
    "CapturedRequest",
    "CapturedSession",
    "ContentGrant",
    "DatabaseProbe",
    "Dialect",
    "Exchange",
    "ExchangeAttempt",
    "FileChange",
    "Folder",
    "HistoryChunk",
    "HistoryDrop",
    "ImportJob",
    "LogEntry",
    "McpServer",
    "McpTool",
    "Memory",
    "ModelFacts",
    "ModelLifecycle",
    "Note",
    "Notification",
    "Origin",
    "PanelState",
    "PersonalLimits",
    "PersonalUsage",
    "Preferences",
    "Price",
    "PromptText",
    "ProviderFileRemoval",
    "QueuedMessage",
    "RawChunk",
    "Reading",
    "Reference",
    "Reservation",
    "RetentionReport",
    "RetentionRules",
    "Run",
    "RunLog",
    "SearchPrice",
    "SeededLifecycle",
    "SeededPrice",
    "SeededSearchPrice",
    "SentItem",
    "Session",
    "SessionSettings",
    "SharedFile",
    "SharedLink",
    "SignInLink",
    "Source",
    "Spending",
    "Todo",
    "ToolCall",
    "ToolGrant",
    "Turn",
    "ViewMode",
]
