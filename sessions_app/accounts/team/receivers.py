"""Receivers of allauth's signals: the audit log, and the end of other sessions where it is expected."""

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
)
from allauth.socialaccount.signals import social_account_added, social_account_removed
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from sessions_app.accounts.sign_ins import SignInWay
from sessions_app.accounts.team.devices import end_other_devices
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record

TOTP = Authenticator.Type.TOTP


def connect() -> None:
    authenticator_added.connect(_added, dispatch_uid="log added factor")
    authenticator_removed.connect(_removed, dispatch_uid="log removed factor")
    authenticator_reset.connect(_codes_made, dispatch_uid="log new codes")
    authentication_failed.connect(_failed, dispatch_uid="log wrong code")
    social_account_added.connect(_connected, dispatch_uid="log connected provider")
    social_account_removed.connect(_disconnected, dispatch_uid="log disconnected provider")


def _added(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    if authenticator.type != TOTP:
        record(LoggedAction.RECOVERY_CODES_MADE, user, user)
        return
    record(LoggedAction.SECOND_FACTOR_ADDED, user, user)
    # The code was given just now, in this session; the others did without.
    given = {"id": authenticator.pk, "type": authenticator.type, "reauthenticated": True}
    record_authentication(request, user, "mfa", **given)
    end_other_devices(request)


def _removed(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    if authenticator.type == TOTP:
        record(LoggedAction.SECOND_FACTOR_REMOVED, user, user)
        end_other_devices(request)


def _codes_made(user: User, **_: Any) -> None:
    record(LoggedAction.RECOVERY_CODES_MADE, user, user)


def _failed(user: User, **_: Any) -> None:
    record(LoggedAction.SIGN_IN_FAILED, AnonymousUser(), user, way=SignInWay.SECOND_FACTOR)


def _connected(sociallogin: Any, **_: Any) -> None:
    user = sociallogin.user
    record(LoggedAction.PROVIDER_CONNECTED, user, user, name=settings.PIPEWEB_OIDC_NAME)


def _disconnected(socialaccount: Any, **_: Any) -> None:
    user = socialaccount.user
    record(LoggedAction.PROVIDER_DISCONNECTED, user, user, name=settings.PIPEWEB_OIDC_NAME)
