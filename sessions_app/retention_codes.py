"""Codes of what a rule of retention takes away."""

from enum import StrEnum


class RetentionRule(StrEnum):
    """The field of `models.RetentionRules` by which something is due."""

    PAYLOAD_DAYS = "payload_days"
    PAYLOAD_MB = "payload_mb"
    SESSION_DAYS = "session_days"
    SESSION_MB = "session_mb"
    TRASH_DAYS = "trash_days"

    @property
    def is_erasure(self) -> bool:
        """Whether the whole session goes, not its payloads alone."""
        return self not in (RetentionRule.PAYLOAD_DAYS, RetentionRule.PAYLOAD_MB)
