"""Forms of allauth whose guesses are counted in the audit log."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm as BaseChangePasswordForm
from allauth.mfa.adapter import get_adapter as get_factor_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.utils.crypto import salted_hmac

from sessions_app.accounts.throttle import one_attempt, refusal, wait_before_code

USED_SECONDS = 120
"""Longer than a code of an authenticator app is accepted."""


class GuardedCode:
    """Looks at no code while too many of the person's were wrong, and at none for the second time."""

    def clean_code(self: Any) -> str:
        with one_attempt:
            if wait := wait_before_code(self.user.pk):
                raise refusal(wait)
            used = used_key(self.user.pk, self.cleaned_data["code"])
            if cache.get(used):
                self._emit_authentication_failed(Authenticator.objects.filter(user=self.user).first())
                raise get_factor_adapter().validation_error("incorrect_code")
            code: str = super().clean_code()  # type: ignore[misc]
            cache.set(used, 1, USED_SECONDS)
            return code


def used_key(person: int, code: str) -> str:
    digits = "".join(filter(str.isalnum, code))
    return f"used-code-{person}-{salted_hmac('used code', digits).hexdigest()}"


class CodeForm(GuardedCode, AuthenticateForm):
    """The second step of a sign-in."""


class ConfirmingCodeForm(GuardedCode, ReauthenticateForm):
    """Confirms who is signed in."""


class ChangePasswordForm(BaseChangePasswordForm):
    def clean_oldpassword(self) -> str:
        """As at a sign-in, so that a borrowed browser is no place to guess at either."""
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password
