"""The one form that takes a password."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm

from sessions_app.accounts.throttle import one_attempt, refusal, wait_before


class SignInForm(AuthenticationForm):
    """Looks at no password while too many have been wrong."""

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        if self.request is None or username is None:
            return super().clean()
        with one_attempt:
            if wait := wait_before(self.request, username):
                raise refusal(wait)
            return super().clean()
