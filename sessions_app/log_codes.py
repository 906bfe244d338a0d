"""The codes of the audit log: what was done. Their sentences are in `wording/audit_log`."""

from enum import StrEnum


class LoggedAction(StrEnum):
    """The comments name the figures. Figures hold names, numbers and reasons, never content of a session."""

    # way: a `SignInWay` | the same, or nothing | nothing.
    SIGNED_IN = "signed_in"
    SIGN_IN_FAILED = "sign_in_failed"
    SIGNED_OUT = "signed_out"
    # devices: how many were signed out.
    SIGNED_OUT_EVERYWHERE = "signed_out_everywhere"
    DEVICE_SIGNED_OUT = "device_signed_out"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    SECOND_FACTOR_ADDED = "second_factor_added"
    SECOND_FACTOR_REMOVED = "second_factor_removed"
    RECOVERY_CODES_MADE = "recovery_codes_made"
    PASSWORD_LINK_MADE = "password_link_made"  # noqa: S105
    ADDRESS_CONFIRMED = "address_confirmed"
    # name: what the provider is called.
    PROVIDER_CONNECTED = "provider_connected"
    PROVIDER_DISCONNECTED = "provider_disconnected"
    # filters: names of what a list was narrowed by.
    STAFF_VIEWED = "staff_viewed"
    # reason, minutes | reason, page | nothing.
    CONTENT_OPENED = "content_opened"
    CONTENT_READ = "content_read"
    CONTENT_CLOSED = "content_closed"
    CONTENT_REFUSED = "content_refused"
    # form (of a file), or nothing.
    EXPORTED = "exported"
    ERASED = "erased"
    # host, works | host.
    KEY_TESTED = "key_tested"
    KEY_REMOVED = "key_removed"
    # changes: {field: [old, new]}; an empty old is a new row, an empty new a removed one.
    PRICE_CHANGED = "price_changed"
    LIMIT_CHANGED = "limit_changed"
    ROLE_CHANGED = "role_changed"
    # An MCP server or tool: changes as above; of secrets the names.
    SERVER_CHANGED = "server_changed"
    # name, count of rows.
    ADMIN_ACTION = "admin_action"
    # uses_server_key | nothing.
    CAPTURE_TOKEN_MADE = "capture_token_made"  # noqa: S105
    CAPTURE_TOKEN_REVOKED = "capture_token_revoked"  # noqa: S105
    CAPTURE_KEY_USED = "capture_key_used"


class RefusedReading(StrEnum):
    """Why somebody's content is not opened."""

    NO_PERMISSION = "no_permission"
    NO_REASON = "no_reason"
