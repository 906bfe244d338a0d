"""The one form that takes a password."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError

from sessions_app.accounts.throttle import one_attempt, wait_before
from sessions_app.wording import sign_ins


class SignInForm(AuthenticationForm):
    """Looks at no password while too many have been wrong; `wait` says for how long."""

    wait = timedelta()

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        if self.request is None or username is None:
            return super().clean()
        with one_attempt:
            self.wait = wait_before(self.request, username)
            if self.wait:
                raise ValidationError(sign_ins.throttled(self.wait.total_seconds()), code="throttled")
            return super().clean()
