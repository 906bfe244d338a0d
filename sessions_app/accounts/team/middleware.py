"""Lets nobody in whose sign-in lacks a step, and keeps which browsers are in use."""

from collections.abc import Callable

from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse

from sessions_app.accounts.team.devices import note_use
from sessions_app.accounts.team.rules import has_passed, must_have_factor, with_factor

SETTING_UP = frozenset(
    {
        "security",
        "mfa_activate_totp",
        "mfa_view_recovery_codes",
        "account_reauthenticate",
        "mfa_reauthenticate",
        "account_change_password",
        "account_set_password",
        "sign-in",
        "sign-out",
        "set-view",
        "manifest",
    }
)
"""Pages for who has to set up a second factor before any other."""


def complete_sign_in_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def respond(request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            if refused := _refusal(request, request.user):
                return refused
            note_use(request)
        return get_response(request)

    return respond


def _refusal(request: HttpRequest, person: User) -> HttpResponse | None:
    if with_factor([person.pk]):
        if has_passed(request.session):
            return None
        # It was begun while nobody asked for codes: it is no sign-in any more.
        logout(request)
        return _lead(request, redirect_to_login(request.get_full_path()).url)
    if must_have_factor(person) and _route(request) not in SETTING_UP:
        return _lead(request, reverse("security"))
    return None


def _route(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).url_name or ""
    except Resolver404:
        return ""


def _lead(request: HttpRequest, to: str) -> HttpResponse:
    """Scripts are told where the page has to go; what is no page is refused."""
    if "HX-Request" in request.headers:
        return HttpResponse(status=403, headers={"HX-Redirect": to})
    if request.method in ("GET", "HEAD"):
        return redirect(to)
    return HttpResponse(status=403)
