"""The API key page: whether a key is configured, and a test of another one."""

from asgiref.sync import async_to_sync
from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from sessions_app.gemini.key_check import KeyCheck, check_key


class KeyForm(forms.Form):
    """The key is tested only; it is neither stored nor rendered again."""

    key = forms.CharField(
        required=False,
        max_length=300,
        label="API key",
        widget=forms.PasswordInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "Paste the key to test it"}
        ),
    )


@never_cache
@sensitive_post_parameters("key")
@login_required
@require_http_methods(["GET", "POST"])
def key(request: HttpRequest) -> HttpResponse:
    """Only staff may test a key, because the test makes this server call the provider."""
    if request.method == "GET":
        return _page(request, None, may_test=request.user.is_staff)
    if not request.user.is_staff:
        raise PermissionDenied
    return _page(request, _try(request), may_test=True)


@sensitive_variables()
def _try(request: HttpRequest) -> KeyCheck:
    form = KeyForm(request.POST)
    given = form.cleaned_data["key"] if form.is_valid() else ""
    return async_to_sync(check_key)(given, base_url=settings.GOOGLE_GEMINI_BASE_URL)


def _page(request: HttpRequest, check: KeyCheck | None, *, may_test: bool) -> HttpResponse:
    shown = {
        "form": KeyForm() if may_test else None,
        "check": check,
        "has_key": bool(settings.GEMINI_API_KEY),
    }
    return render(request, "chat/key.html", shown, status=200 if check is None or check.works else 422)
