"""The preferences of the person who is signed in."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.models import Preferences, ViewMode


class ViewModeForm(forms.Form):
    view = forms.ChoiceField(choices=ViewMode)


def view_mode(request: HttpRequest) -> dict[str, Any]:
    """Context processor; only a template that names it asks the database."""
    return {
        "view_mode": SimpleLazyObject(lambda: _mode_of(request).value),
        "has_security_page": settings.PIPEWEB_ACCOUNTS == "team",
    }


def _mode_of(request: HttpRequest) -> ViewMode:
    """Pages of errors may be made before the person is known."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return ViewMode.SIMPLE
    return Preferences.objects.view_mode_of(user.pk)


@login_required
@require_POST
def set_view_mode(request: AuthenticatedRequest) -> HttpResponse:
    """Back to the page, or nothing for a script that has changed the page itself."""
    form = ViewModeForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=400)
    Preferences.objects.set_view_mode(request.user.pk, ViewMode(form.cleaned_data["view"]))
    if request.htmx:
        return HttpResponse(status=204)
    back = request.POST.get("next", "")
    is_own = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return redirect(back if is_own else "home")
