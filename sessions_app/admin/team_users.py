"""What administrators see and do about the sign-ins of a team. Imported only with PIPEWEB_ACCOUNTS=team."""

from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.internal.flows.password_reset import get_reset_password_from_key_url
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.views.decorators.cache import never_cache

from sessions_app.accounts.team.devices import count_devices, end_sessions
from sessions_app.accounts.team.rules import must_have_factor
from sessions_app.admin.confirmed import confirmed_action
from sessions_app.admin.users import ErasingUserAdmin
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record

# allauth's own pages would show secrets, and change rows past the log.
for label in ("account", "mfa", "socialaccount", "usersessions"):
    for model in apps.get_app_config(label).get_models():
        if admin.site.is_registered(model):
            admin.site.unregister(model)
admin.site.unregister(User)


def reset_factors(people: QuerySet[Any]) -> list[int]:
    """Takes the second factors, and with them every sign-in."""
    changed = []
    for person in people:
        if Authenticator.objects.filter(user=person).delete()[0]:
            record(LoggedAction.SECOND_FACTOR_REMOVED, on=person)
            _end_sessions(person)
            changed.append(person.pk)
    return changed


def end_all_sessions(people: QuerySet[Any]) -> list[int]:
    return [person.pk for person in people if _end_sessions(person)]


def _end_sessions(person: User) -> int:
    ended = end_sessions(person.pk)
    record(LoggedAction.SIGNED_OUT_EVERYWHERE, on=person, devices=ended)
    return ended


def confirm_addresses(people: QuerySet[Any]) -> list[int]:
    return [person.pk for person in people.exclude(email="") if confirm_address(person)]


@transaction.atomic
def confirm_address(person: User) -> bool:
    """An administrator answers for it that the address is the person's; False where it was confirmed."""
    address = person.email.lower()
    if EmailAddress.objects.filter(email__iexact=address, verified=True).exists():
        return False
    EmailAddress.objects.filter(user=person).delete()
    EmailAddress.objects.create(user=person, email=address, verified=True, primary=True)
    record(LoggedAction.ADDRESS_CONFIRMED, on=person)
    return True


@admin.register(User)
class TeamUserAdmin(ErasingUserAdmin):
    actions = (
        confirmed_action(
            "reset_factors",
            "Reset the second factor",
            "Their passwords alone let them in afterwards, until they set up another. They are signed out.",
            reset_factors,
            "sign_ins",
        ),
        confirmed_action(
            "end_all_sessions",
            "Sign out everywhere",
            "Every device of theirs is signed out, and open chats close. Answers that are written go on.",
            end_all_sessions,
            "sign_ins",
        ),
        confirmed_action(
            "confirm_addresses",
            "Confirm e-mail addresses",
            "You answer for it that these are theirs: who has one at the provider signs in to the account.",
            confirm_addresses,
            "sign_ins",
        ),
    )

    def has_sign_ins_permission(self, request: HttpRequest) -> bool:
        """What could let somebody in as somebody else is for administrators only."""
        return bool(request.user.is_active and request.user.is_superuser)

    def get_list_display(self, request: HttpRequest) -> Any:
        return (*super().get_list_display(request), "second_factor")

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        return (*shown, ("Sign-in", {"fields": ("sign_in_now",)})) if obj else shown

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        return (*super().get_readonly_fields(request, obj), "sign_in_now")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        factors = Authenticator.objects.filter(user=OuterRef("pk"), type=Authenticator.Type.TOTP)
        return super().get_queryset(request).annotate(has_factor=Exists(factors))

    @admin.display(boolean=True, description="second factor")
    def second_factor(self, person: User) -> bool:
        return bool(getattr(person, "has_factor", False))

    @admin.display(description="sign-in now")
    def sign_in_now(self, person: User) -> str:
        has_factor = self.second_factor(person)
        factor = "on" if has_factor else "missing, and asked for" if must_have_factor(person) else "off"
        is_confirmed = EmailAddress.objects.filter(user=person, verified=True).exists()
        is_connected = SocialAccount.objects.filter(user=person).exists()
        return format_html(
            "Second factor: {}. Signed in on {} devices. E-mail address: {}. Provider: {}. "
            '<a href="{}">Make a link to choose a password</a>',
            factor,
            count_devices(person.pk),
            "confirmed" if is_confirmed else "not confirmed",
            "connected" if is_connected else "not connected",
            reverse("admin:auth_user_password_link", args=[person.pk]),
        )

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "email" in form.changed_data:
            EmailAddress.objects.filter(user=obj).delete()
            if obj.email and self.has_sign_ins_permission(request):
                confirm_address(obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(never_cache(self.password_link))
        return [
            path("<int:key>/password-link/", view, name="auth_user_password_link"),
            *super().get_urls(),
        ]

    def password_link(self, request: HttpRequest, key: int) -> HttpResponse:
        """For who is invited, or has forgotten a password: shown once, to be handed over by any way."""
        if not self.has_sign_ins_permission(request):
            raise PermissionDenied
        person = get_object_or_404(User, pk=key)
        link = ""
        if request.method == "POST":
            token = f"{user_pk_to_url_str(person)}-{default_token_generator.make_token(person)}"
            link = get_reset_password_from_key_url(request, token)
            record(LoggedAction.PASSWORD_LINK_MADE, request.user, person)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.model._meta,
            "person": person,
            "link": link,
            "title": "A link to choose a password",
        }
        return TemplateResponse(request, "admin/password_link.html", context)
