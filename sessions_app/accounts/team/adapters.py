"""What allauth asks Pipeweb: whether somebody may come in, how secrets are kept, what is said."""

import base64
import hashlib
from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse

from sessions_app.accounts.team.rules import must_have_factor
from sessions_app.accounts.throttle import one_attempt, refusal, wait_before
from sessions_app.wording import sign_ins

log = structlog.get_logger("pipeweb.accounts")


class AccountAdapter(DefaultAccountAdapter):
    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Held from the look at the log to the row of a failure, as by the stock form."""
        with one_attempt:
            found: User | None = super().authenticate(request, **credentials)
            return found

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        if wait := wait_before(request, str(credentials.get("username", ""))):
            raise refusal(wait)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.PIPEWEB_REGISTRATION == "open")

    def get_client_ip(self, request: HttpRequest) -> str:
        """The server has put the address that the proxy tells in this place (Daphne's --proxy-headers)."""
        return str(request.META.get("REMOTE_ADDR") or "0.0.0.0")  # noqa: S104

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("security")

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *_: Any,
        message: str | None = None,
        **__: Any,
    ) -> None:
        """Our sentence for the name of allauth's template; most of these need none."""
        if sentence := message or sign_ins.notice(message_template or ""):
            messages.add_message(request, level, sentence)


class FactorAdapter(DefaultMFAAdapter):
    """Keeps the secrets of second factors encrypted with a key made of SECRET_KEY."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Where the key has changed, a secret that nobody knows: no code is right, and an admin resets."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            log.warning("second_factor_unreadable")
            return str(generate_totp_secret())

    def get_totp_label(self, user: User) -> str:
        return user.get_username()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not must_have_factor(authenticator.user)


def _cipher() -> Fernet:
    key = hashlib.sha256(b"pipeweb second factor" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Whom a sign-in at the provider means here.

    An account that was connected before. Else the active account whose address is the provider's, where both
    have confirmed it: the provider says so, and here a mail or an administrator has. Accounts of staff are
    connected by their owners only. Else nobody, unless accounts may be made that way.
    """

    def authenticate_by_email(self, sociallogin: Any) -> tuple[User, str] | None:
        for address in sociallogin.email_addresses:
            # Some providers send the word "false".
            address.verified = address.verified is True
        confirmed = [one.email for one in sociallogin.email_addresses if one.verified]
        rows = EmailAddress.objects.filter(
            email__in=[email.lower() for email in confirmed],
            verified=True,
            user__is_active=True,
            user__is_staff=False,
            user__is_superuser=False,
        )
        found = list(rows.select_related("user")[:2])
        return (found[0].user, found[0].email) if len(found) == 1 else None

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Nobody makes a second account with an address that somebody has."""
        if sociallogin.is_existing or sociallogin.state.get("process") == "connect":
            return
        for address in sociallogin.email_addresses:
            if (
                User.objects.filter(email__iexact=address.email).exists()
                or EmailAddress.objects.filter(email__iexact=address.email).exists()
            ):
                page = {"step": sign_ins.step_words(sign_ins.SignInStep.ADDRESS_TAKEN)}
                raise ImmediateHttpResponse(render(request, "accounts/step.html", page, status=403))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return settings.PIPEWEB_REGISTRATION in ("provider", "open")
