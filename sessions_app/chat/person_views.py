"""The page of a person's own data: a full export, and the deletion of the account."""

from collections import defaultdict
from datetime import timedelta
from functools import partial
from typing import Any

from django import forms
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.chat.person_export import export_person
from sessions_app.fairness import Rate
from sessions_app.log_codes import LoggedAction
from sessions_app.models import Attachment, Session
from sessions_app.models.audit_entry import record
from sessions_app.runs.person_erasure import erase_person

FRESH = timedelta(minutes=10)
"""A sign-in within this time counts as much as a password."""

ATTEMPTS = 10
"""Deletions of one account that may be tried at once; then one a minute."""

attempts: defaultdict[int, Rate] = defaultdict(partial(Rate, ATTEMPTS, 1 / 60))
"""Rates of tried deletions by person, in this process."""


class ErasureForm(forms.Form):
    """The name is typed so that nobody deletes an account by a slip."""

    name = forms.CharField(max_length=150)
    password = forms.CharField(
        label="Your password", required=False, strip=False, widget=forms.PasswordInput, max_length=4_096
    )

    def __init__(self, person: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person
        self.fields["name"].label = f"Type your user name, {person.get_username()}"
        self.fields["name"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        self.fields["password"].widget.attrs |= {"autocomplete": "current-password"}
        if is_fresh(person):
            del self.fields["password"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.person.get_username():
            raise forms.ValidationError("This is not your user name.", code="other_name")
        return name

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.person.check_password(password):
            raise forms.ValidationError(
                "This is not your password. Without one, sign in again and come back within ten minutes.",
                code="wrong_password",
            )
        return password


def is_fresh(person: User) -> bool:
    """Whether the person has signed in just now."""
    return person.last_login is not None and person.last_login > timezone.now() - FRESH


@never_cache
@login_required
@require_safe
def own_data(request: AuthenticatedRequest) -> HttpResponse:
    return page(request, ErasureForm(request.user))


def page(request: HttpRequest, form: ErasureForm, status: int = 200) -> HttpResponse:
    sessions = Session.objects.filter(owner=form.person)
    context = {
        "form": form,
        "sessions": sessions.count(),
        "deleted": sessions.exclude(deleted_at=None).count(),
        "attachments": Attachment.objects.filter(session__owner=form.person).count(),
    }
    return render(request, "chat/own_data.html", context, status=status)


@login_required
@require_POST
def export_own_data(request: AuthenticatedRequest) -> StreamingHttpResponse:
    """Everything that the person has, as a file that is made while it is sent."""
    record(LoggedAction.EXPORTED, request.user, request.user, form="zip")
    name = f"pipeweb-{timezone.now():%Y-%m-%d}.zip"
    return StreamingHttpResponse(
        export_person(request.user),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


@never_cache
@login_required
@require_POST
def delete_account(request: AuthenticatedRequest) -> HttpResponse:
    """Erases the person who asks for it, with all that is theirs."""
    person = request.user
    form = ErasureForm(person, request.POST)
    if attempts[person.pk].take() > 0:
        form.add_error(None, "Too many attempts. Wait some minutes.")
        return page(request, form, 429)
    if not form.is_valid():
        return page(request, form, 422)
    logout(request)
    erase_person(User.objects.get(pk=person.pk), by=person.pk)
    return redirect("sign-in")
