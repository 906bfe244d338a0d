"""The pages of a team's sign-in: those of allauth with our templates, and a page of one's own security."""

from functools import partial
from typing import Any

from allauth.account import views as account
from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from allauth.account.internal.stagekit import clear_login
from allauth.mfa.base import views as factor
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import views as totp
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from sessions_app.accounts.requests import AuthenticatedRequest
from sessions_app.accounts.team import devices
from sessions_app.accounts.team.rules import must_have_factor
from sessions_app.accounts.throttle import say_wait
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record
from sessions_app.wording import sign_ins
from sessions_app.wording.sign_ins import SignInStep, step_words

STEP = "accounts/step.html"


def step(name: SignInStep) -> dict[str, Any]:
    """Arguments of `as_view` for a page of one form."""
    return {"template_name": STEP, "extra_context": {"step": partial(step_words, name)}}


class SaysWait:
    """Answers 429 where a form was refused for too many failures."""

    def render_to_response(self: Any, context: dict[str, Any], **options: Any) -> HttpResponse:
        response: HttpResponse = super().render_to_response(context, **options)  # type: ignore[misc]
        form = context.get("form")
        return say_wait(response, form) if form is not None and form.is_bound else response


@method_decorator(never_cache, name="dispatch")
class SignIn(SaysWait, account.LoginView):
    """With `again` in its address it forgets who has given a password and no code yet."""

    template_name = "registration/sign_in.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "again" in request.GET:
            clear_login(request)
        answer: HttpResponse = super().dispatch(request, *args, **kwargs)
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "local": settings.DEBUG,
            "next": self.request.GET.get("next", "") or self.request.POST.get("next", ""),
            "is_team": True,
            "is_open": get_adapter().is_open_for_signup(self.request),
            "provider_id": settings.OIDC_PROVIDER_ID,
            "provider_name": settings.PIPEWEB_OIDC_NAME,
        }


class CodeStep(SaysWait, factor.AuthenticateView):
    pass


class ConfirmByPassword(SaysWait, account.ReauthenticateView):
    pass


class ConfirmByCode(SaysWait, factor.ReauthenticateView):
    pass


class ChangePassword(SaysWait, account.PasswordChangeView):
    pass


@method_decorator(reauthentication_required(app="allauth.mfa"), name="dispatch")
class SetPassword(account.PasswordSetView):
    """For a person without a password. Asks for a code first where there is a second factor."""


class ActivateFactor(SaysWait, totp.ActivateTOTPView):
    """Shows the secret as text too, for whoever cannot scan the QR code."""

    template_name = "accounts/second_factor.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        secret = context["form"].secret
        return context | {"secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))}


class ForgottenPassword(account.PasswordResetView):
    """Sends a link where mail is configured; else says who can help."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        name = SignInStep.FORGOTTEN_BY_MAIL if settings.EMAIL_URL else SignInStep.FORGOTTEN
        return super().get_context_data(**kwargs) | {"step": partial(step_words, name)}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.EMAIL_URL:
            return self.get(request)
        answer: HttpResponse = super().post(request, *args, **kwargs)
        return answer


class ConfirmAddress(account.ConfirmEmailView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        name = SignInStep.CONFIRM_ADDRESS if context["can_confirm"] else SignInStep.ADDRESS_LINK_ENDED
        return context | {"step": step_words(name)}


class ChoosePassword(account.PasswordResetFromKeyView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        if context.get("token_fail"):
            return context | {"step": step_words(SignInStep.LINK_ENDED), "form": None}
        return context


@never_cache
@login_required
@require_safe
def security(request: AuthenticatedRequest) -> HttpResponse:
    """Password, second step, devices and the account at the provider, with what can be done about each."""
    rows = Authenticator.objects.filter(user=request.user)
    factors = {row.type: row for row in rows}
    codes = factors.get(Authenticator.Type.RECOVERY_CODES)
    totp_row = factors.get(Authenticator.Type.TOTP)
    context = {
        "factor": totp_row,
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "must_have_factor": must_have_factor(request.user),
        "must_set_up": must_have_factor(request.user) and totp_row is None,
        "devices": devices.devices_of(request),
        "provider_name": settings.PIPEWEB_OIDC_NAME if settings.OIDC_PROVIDER_ID else "",
        "provider_id": settings.OIDC_PROVIDER_ID,
        "connected": SocialAccount.objects.filter(
            user=request.user, provider=settings.OIDC_PROVIDER_ID
        ).first(),
    }
    return render(request, "accounts/security.html", context)


@login_required
@require_POST
@reauthentication_required(app="allauth.mfa")
def sign_out_everywhere(request: AuthenticatedRequest) -> HttpResponse:
    """Ends every session of the person but this one, with its sockets."""
    ended = devices.end_other_devices(request)
    record(LoggedAction.SIGNED_OUT_EVERYWHERE, request.user, request.user, devices=ended)
    messages.success(request, sign_ins.ended(ended))
    return redirect("security")


@login_required
@require_POST
def end_device(request: AuthenticatedRequest, device: int) -> HttpResponse:
    """Ends one of the person's other sessions. Raises Http404 for anybody else's."""
    row = get_object_or_404(UserSession, user=request.user, pk=device)
    raise_if_reauthentication_required(request, app="allauth.mfa")
    devices.end_device(row)
    record(LoggedAction.DEVICE_SIGNED_OUT, request.user, request.user)
    messages.success(request, sign_ins.DEVICE_ENDED)
    return redirect("security")
