"""What rules of retention take away, and what stands in the place of a purged payload."""

from datetime import datetime

from sessions_app.retention_codes import RetentionRule

REASONS: dict[str, str] = {
    RetentionRule.PAYLOAD_DAYS: "payloads, for their age",
    RetentionRule.PAYLOAD_MB: "payloads, to make room",
    RetentionRule.SESSION_DAYS: "whole sessions, for their age",
    RetentionRule.SESSION_MB: "whole sessions, to make room",
    RetentionRule.TRASH_DAYS: "deleted sessions, from the trash",
}

PURGED = {
    "when": "The payload of this exchange was purged on {day} by a rule of retention: what it sent and "
    "received is no longer kept. Its totals, its cost and its verdict are."
}


def purged(at: datetime) -> str:
    return PURGED["when"].format(day=f"{at:%Y-%m-%d}")
