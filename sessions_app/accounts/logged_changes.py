"""Receivers of signals that write the audit log: sign-ins, and every change of prices, limits and rights."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.http import HttpRequest

from sessions_app.accounts.sign_ins import SignInWay, way_of
from sessions_app.log_codes import LoggedAction
from sessions_app.models import (
    Allowance,
    McpServer,
    McpTool,
    ModelLifecycle,
    PersonalLimits,
    Price,
    SearchPrice,
)
from sessions_app.models.audit_entry import record

LIMITS = tuple(
    field.name
    for field in PersonalLimits._meta.concrete_fields
    if isinstance(field, models.PositiveIntegerField)
)

LOGGED: dict[type[Model], tuple[LoggedAction, tuple[str, ...]]] = {
    Price: (
        LoggedAction.PRICE_CHANGED,
        tuple(field.name for field in Price._meta.concrete_fields if field.name not in ("id", "source")),
    ),
    SearchPrice: (LoggedAction.PRICE_CHANGED, ("model", "valid_from", "usd", "per")),
    ModelLifecycle: (
        LoggedAction.PRICE_CHANGED,
        ("model", "valid_from", "served_by", "is_retired", "successor"),
    ),
    Allowance: (
        LoggedAction.LIMIT_CHANGED,
        tuple(field.attname for field in Allowance._meta.concrete_fields if field.name != "id"),
    ),
    PersonalLimits: (LoggedAction.LIMIT_CHANGED, ("user_id", "group_id", *LIMITS)),
    User: (LoggedAction.ROLE_CHANGED, ("is_active", "is_staff", "is_superuser")),
    Group: (LoggedAction.ROLE_CHANGED, ("name",)),
    McpServer: (
        LoggedAction.SERVER_CHANGED,
        (
            *("name", "transport", "command", "arguments", "url", "is_on", "for_everybody", "approval"),
            *("start_seconds", "list_seconds", "call_seconds", "idle_seconds"),
        ),
    ),
    McpTool: (LoggedAction.SERVER_CHANGED, ("function", "approval")),
}
"""Model → what a change of these columns is called. No column with content is among them."""

BEFORE = "_logged_before"

Values = Mapping[str, Any]


RIGHTS: dict[Any, tuple[Any, Any, str, str]] = {
    User.groups.through: (User, Group, "groups", "user"),
    User.user_permissions.through: (User, Permission, "user_permissions", "user"),
    McpServer.groups.through: (McpServer, Group, "groups", "mcp_servers"),
    McpServer.people.through: (McpServer, User, "people", "mcp_servers"),
    Group.permissions.through: (Group, Permission, "permissions", "group"),
}
"""Table of links → who holds, what they hold, and the look-ups there and back."""

BEFORE_CHANGE = {"pre_add", "pre_remove", "pre_clear"}


def connect() -> None:
    for model in LOGGED:
        name = model.__name__
        pre_save.connect(_keep_old, sender=model, dispatch_uid=f"keep old {name}")
        post_save.connect(_saved, sender=model, dispatch_uid=f"log saved {name}")
        post_delete.connect(_deleted, sender=model, dispatch_uid=f"log deleted {name}")
    for through in RIGHTS:
        m2m_changed.connect(_rights_changed, sender=through, dispatch_uid=f"log {through.__name__}")
    post_save.connect(_password_saved, sender=User, dispatch_uid="log saved password")
    user_logged_in.connect(_signed_in, dispatch_uid="log sign-in")
    user_login_failed.connect(_sign_in_failed, dispatch_uid="log failed sign-in")
    user_logged_out.connect(_signed_out, dispatch_uid="log sign-out")


def changes_of(old: Values, new: Values) -> dict[str, list[Any]]:
    """Column → [old, new] of what differs, as JSON has it."""
    names = dict.fromkeys((*old, *new))
    pairs = {name: [_plain(old.get(name)), _plain(new.get(name))] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _plain(value: Any) -> Any:
    """A decimal without trailing zeros, so that the same amount is no change; other types as text."""
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _keep_old(sender: type[Model], instance: Model, update_fields: Any = None, **_: Any) -> None:
    """One query, unless the columns that are saved are others, as at each sign-in."""
    names = LOGGED[sender][1]
    is_other = update_fields is not None and not set(update_fields) & set(names)
    rows = sender._base_manager.filter(pk=instance.pk).values(*names)
    setattr(instance, BEFORE, None if is_other else (instance.pk and rows.first()) or {})


def _saved(sender: type[Model], instance: Model, raw: bool = False, **_: Any) -> None:
    old = instance.__dict__.pop(BEFORE, None)
    if old is None or raw:
        return
    action, names = LOGGED[sender]
    if changes := changes_of(old, _set_values(instance, names, is_whole=bool(old))):
        record(action, on=instance, changes=changes)


def _password_saved(sender: type[Model], instance: User, created: bool, raw: bool = False, **_: Any) -> None:
    """A new password, by whatever page or command; not a stronger hash of the same one at a sign-in."""
    if getattr(instance, "_password", None) is not None and not (created or raw):
        record(LoggedAction.PASSWORD_CHANGED, on=instance)


def _deleted(sender: type[Model], instance: Model, **_: Any) -> None:
    action, names = LOGGED[sender]
    record(action, on=instance, changes=changes_of(_set_values(instance, names), {}))


def _set_values(row: Model, names: Collection[str], *, is_whole: bool = False) -> Values:
    """The columns as the database has them; unless `is_whole`, without those at their defaults."""
    fields: dict[str, Any] = {name: row._meta.get_field(name) for name in names}
    values = {name: field.to_python(getattr(row, name)) for name, field in fields.items()}
    return {
        name: value
        for name, value in values.items()
        if is_whole or value not in (None, "", fields[name].get_default())
    }


def _rights_changed(
    sender: Any, instance: Model, action: str, pk_set: set[Any] | None = None, **_: Any
) -> None:
    """Groups and permissions of people and groups; before the change, while what goes is still known."""
    if action not in BEFORE_CHANGE:
        return
    holder, right, there, back = RIGHTS[sender]
    other, look_up = (right, back) if isinstance(instance, holder) else (holder, there)
    # A clearing names no keys: it is about all that are linked.
    found = {look_up: instance} if pk_set is None else {"pk__in": pk_set}
    others = list(other.objects.filter(**found))
    held = {instance: others} if isinstance(instance, holder) else {one: [instance] for one in others}
    for row, rights in held.items():
        names = sorted(map(_name, rights))
        pair = [[], names] if action == "pre_add" else [names, []]
        if names:
            record(LoggedAction.ROLE_CHANGED, on=row, changes={there: pair})


def _name(right: Model) -> str:
    if not isinstance(right, Permission):
        return str(right)
    # Not the codename alone: two apps may have the same.
    kind = ContentType.objects.get_for_id(right.content_type_id)
    return f"{kind.app_label}.{right.codename}"


def _signed_in(sender: Any, request: HttpRequest | None, user: User, **_: Any) -> None:
    way = way_of(request.session) if request is not None else SignInWay.PASSWORD
    record(LoggedAction.SIGNED_IN, user, user, way=way)


def _signed_out(sender: Any, request: HttpRequest | None, user: User | None, **_: Any) -> None:
    if user is not None:
        record(LoggedAction.SIGNED_OUT, user, user)


def _sign_in_failed(sender: Any, credentials: Values, **_: Any) -> None:
    """Names a person only where there is one of this name: people type passwords into the wrong field."""
    name = credentials.get("username") or credentials.get("login") or ""
    person = User.objects.filter(username=str(name)[:150]).first()
    record(LoggedAction.SIGN_IN_FAILED, AnonymousUser(), person)
