"""The API key page: which key is in use, and another one, tested before it is kept."""

from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from sessions_app.chat.storage_refusals import INSUFFICIENT_STORAGE
from sessions_app.context.api_key import is_one_of_several, keys
from sessions_app.context.outbound import provider_transport
from sessions_app.errors import KeyNotChanged
from sessions_app.gemini.key_check import KeyCheck, check_key
from sessions_app.hosts import GOOGLE, host_of
from sessions_app.key_codes import KeyOrigin
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record
from sessions_app.wording.api_key import (
    KEPT,
    ORIGINS,
    PLACES,
    PROBLEM_HINT,
    PROBLEMS,
    REMOVED,
    SEVERAL_PROCESSES,
)


class KeyForm(forms.Form):
    """The key is never rendered again."""

    key = forms.CharField(
        required=False,
        max_length=300,
        label="API key",
        widget=forms.PasswordInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "Paste the key"}
        ),
    )
    place = forms.ChoiceField(
        required=False,
        label="Keep it",
        choices=lambda: list(PLACES.items()),
        initial=KeyOrigin.PROCESS.value,
        widget=forms.RadioSelect,
    )


@never_cache
@sensitive_post_parameters("key")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def key(request: HttpRequest) -> HttpResponse:
    """A key may be entered where the environment does not decide."""
    if request.method != "POST":
        return _page(request)
    if not _may_change(request):
        raise PermissionDenied
    return _test_and_keep(request)


@never_cache
@login_required
@require_POST
def remove_key(request: HttpRequest) -> HttpResponse:
    """Removes the key: the emulator answers from the next run on; runs that have begun keep the key."""
    if not _may_change(request):
        raise PermissionDenied
    try:
        keys.remove()
    except KeyNotChanged as error:
        return _page(request, problem=error)
    record(LoggedAction.KEY_REMOVED, request.user)
    messages.success(request, REMOVED)
    return redirect("key")


@sensitive_variables()
def _test_and_keep(request: HttpRequest) -> HttpResponse:
    form = KeyForm(request.POST)
    is_valid = form.is_valid()
    given = form.cleaned_data["key"] if is_valid else ""
    base_url = settings.GOOGLE_GEMINI_BASE_URL or GOOGLE
    check = async_to_sync(check_key)(given, base_url=base_url, transport=provider_transport(base_url))
    record(LoggedAction.KEY_TESTED, request.user, host=host_of(base_url), works=is_valid and check.works)
    if not (is_valid and check.works):
        return _page(request, check)
    try:
        keys.keep(given, KeyOrigin(form.cleaned_data["place"] or KeyOrigin.PROCESS))
    except KeyNotChanged as error:
        return _page(request, problem=error)
    messages.success(request, f"{check.message} {KEPT.format(host=host_of(base_url))}")
    return redirect("key")


def _may_change(request: HttpRequest) -> bool:
    """Only an administrator: the key is that of the installation, and its owner pays."""
    return bool(request.user.is_active and request.user.is_superuser and keys.is_settable)


def _page(
    request: HttpRequest, check: KeyCheck | None = None, problem: KeyNotChanged | None = None
) -> HttpResponse:
    current = keys.current()
    may_change = _may_change(request)
    is_unreadable = current.origin is KeyOrigin.UNREADABLE
    shown: dict[str, Any] = {
        "form": KeyForm() if may_change else None,
        "check": check,
        "problem": problem.reason.value if problem else "",
        "problem_sentence": PROBLEMS[problem.reason] if problem else "",
        "problem_hint": PROBLEM_HINT,
        "has_key": bool(current.text),
        "is_unreadable": is_unreadable,
        "origin": current.origin.value,
        "origin_sentence": ORIGINS[current.origin],
        "several_processes": SEVERAL_PROCESSES if is_one_of_several() else "",
        "may_remove": may_change and (bool(current.text) or is_unreadable),
    }
    status = INSUFFICIENT_STORAGE if problem else 422 if check else 200
    return render(request, "chat/key.html", shown, status=status)
