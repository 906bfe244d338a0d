"""What the audit log says of an entry."""

from collections.abc import Mapping
from typing import Any

from sessions_app.log_codes import LoggedAction, RefusedReading
from sessions_app.wording.sentences import fill

TITLES: dict[str, str] = {
    LoggedAction.SIGNED_IN: "signed in",
    LoggedAction.SIGN_IN_FAILED: "sign-in failed",
    LoggedAction.SIGNED_OUT: "signed out",
    LoggedAction.SIGNED_OUT_EVERYWHERE: "signed out everywhere",
    LoggedAction.DEVICE_SIGNED_OUT: "signed out a device",
    LoggedAction.PASSWORD_CHANGED: "changed the password",
    LoggedAction.SECOND_FACTOR_ADDED: "added a second factor",
    LoggedAction.SECOND_FACTOR_REMOVED: "removed a second factor",
    LoggedAction.RECOVERY_CODES_MADE: "made recovery codes",
    LoggedAction.PASSWORD_LINK_MADE: "made a link to choose a password",
    LoggedAction.ADDRESS_CONFIRMED: "confirmed an e-mail address",
    LoggedAction.PROVIDER_CONNECTED: "connected a provider's account",
    LoggedAction.PROVIDER_DISCONNECTED: "disconnected a provider's account",
    LoggedAction.STAFF_VIEWED: "looked at metadata",
    LoggedAction.CONTENT_OPENED: "opened content",
    LoggedAction.CONTENT_READ: "read content",
    LoggedAction.CONTENT_CLOSED: "closed content",
    LoggedAction.CONTENT_REFUSED: "was refused content",
    LoggedAction.EXPORTED: "exported",
    LoggedAction.ERASED: "erased",
    LoggedAction.KEY_TESTED: "tested an API key",
    LoggedAction.KEY_REMOVED: "removed the API key",
    LoggedAction.PRICE_CHANGED: "changed a price",
    LoggedAction.LIMIT_CHANGED: "changed a limit",
    LoggedAction.ROLE_CHANGED: "changed rights",
    LoggedAction.SERVER_CHANGED: "changed an MCP server",
    LoggedAction.ADMIN_ACTION: "acted in the admin",
    LoggedAction.CAPTURE_TOKEN_MADE: "made a capture address",
    LoggedAction.CAPTURE_TOKEN_REVOKED: "revoked a capture address",
    LoggedAction.CAPTURE_KEY_USED: "used the server's key by a capture address",
}

REFUSED: dict[str, str] = {
    RefusedReading.NO_PERMISSION: "You may not read the content of other people's sessions.",
    RefusedReading.NO_REASON: "Say why you have to read it, in {shortest} characters or more.",
}

DETAILS: dict[str, str] = {
    "changes": "{name}: {old} → {new}",
    "reason": "“{reason}”",
    "minutes": "for {minutes} minutes",
    "page": "page: {page}",
    "filters": "narrowed by {filters}",
    "form": "as {form}",
    "way": "by {way}",
    "host": "at {host}",
    "works": "it works: {works}",
    "name": "{name}",
    "count": "rows: {count}",
    "devices": "devices: {devices}",
    "uses_server_key": "with the server's key: {uses_server_key}",
}
"""A figure → what is said of it."""

NOBODY = {"system": "the server", "erased": "erased person {key}", "anonymous": "somebody"}


def title(action: str) -> str:
    return TITLES.get(action, action.replace("_", " "))


def refusal(reason: RefusedReading, figures: Mapping[str, Any]) -> str:
    return fill(REFUSED[reason], figures)


def actor(name: str, key: int | None, action: str) -> str:
    """Who did it: the name then, else the key of a person who was erased; else nobody who was signed in."""
    if name or key is not None:
        return name or NOBODY["erased"].format(key=key)
    return NOBODY["anonymous" if action == LoggedAction.SIGN_IN_FAILED else "system"]


def details(figures: Mapping[str, Any]) -> str:
    """All figures of an entry in one line."""
    said = []
    for name, value in figures.items():
        if name == "changes":
            said += [_change(field, pair) for field, pair in value.items()]
        elif name == "filters" and not value:
            continue
        elif name in DETAILS:
            said.append(fill(DETAILS[name], {name: _shown(value)}))
    return ", ".join(said)


def _change(field: str, pair: Any) -> str:
    old, new = (_shown(value) for value in pair)
    return DETAILS["changes"].format(name=field.replace("_", " "), old=old, new=new)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None or value == "" else str(value)
