"""The addresses of a team's sign-in. Names with a prefix are those that allauth looks up."""

from allauth.account import views as account
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.socialaccount import views as social
from allauth.socialaccount.providers.openid_connect import views as provider
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, re_path
from django.views.decorators.cache import never_cache

from sessions_app.accounts.team import views
from sessions_app.accounts.team.views import step
from sessions_app.wording.sign_ins import SignInStep


def to_password(request: HttpRequest) -> HttpResponse:
    """In place of the admin's own page, which asks for no code and has no limit."""
    return redirect("account_change_password")


def to_security(request: HttpRequest) -> HttpResponse:
    return redirect("security")


SIGN_IN = [
    path("sign-in", views.SignIn.as_view(), name="sign-in"),
    path("sign-in", views.SignIn.as_view(), name="account_login"),
    path("sign-in/code/", views.CodeStep.as_view(**step(SignInStep.CODE)), name="mfa_authenticate"),
    path(
        "sign-in/closed/",
        account.AccountInactiveView.as_view(**step(SignInStep.INACTIVE)),
        name="account_inactive",
    ),
    path("register/", account.SignupView.as_view(**step(SignInStep.REGISTER)), name="account_signup"),
    path(
        "register/mail/",
        account.EmailVerificationSentView.as_view(**step(SignInStep.MAIL_SENT)),
        name="account_email_verification_sent",
    ),
    re_path(
        r"^register/mail/(?P<key>[-:\w]+)/$",
        views.ConfirmAddress.as_view(template_name=views.STEP),
        name="account_confirm_email",
    ),
]

PASSWORD = [
    path(
        "password/",
        views.ForgottenPassword.as_view(**step(SignInStep.FORGOTTEN)),
        name="account_reset_password",
    ),
    path(
        "password/sent/",
        account.PasswordResetDoneView.as_view(**step(SignInStep.MAIL_SENT)),
        name="account_reset_password_done",
    ),
    path(
        "password/saved/",
        account.PasswordResetFromKeyDoneView.as_view(**step(SignInStep.PASSWORD_CHOSEN)),
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        never_cache(views.ChoosePassword.as_view(**step(SignInStep.CHOOSE_PASSWORD))),
        name="account_reset_password_from_key",
    ),
    path("admin/password_change/", to_password, name="admin-password"),
]

SECURITY = [
    path("account/security/", views.security, name="security"),
    path("account/security/factors/", to_security, name="mfa_index"),
    path(
        "account/security/confirm/",
        views.ConfirmByPassword.as_view(**step(SignInStep.CONFIRM_PASSWORD)),
        name="account_reauthenticate",
    ),
    path(
        "account/security/confirm/code/",
        views.ConfirmByCode.as_view(**step(SignInStep.CONFIRM_CODE)),
        name="mfa_reauthenticate",
    ),
    path(
        "account/security/password/",
        views.ChangePassword.as_view(**step(SignInStep.CHANGE_PASSWORD)),
        name="account_change_password",
    ),
    path(
        "account/security/password/first/",
        views.SetPassword.as_view(**step(SignInStep.SET_PASSWORD)),
        name="account_set_password",
    ),
    path(
        "account/security/second-step/",
        never_cache(views.ActivateFactor.as_view()),
        name="mfa_activate_totp",
    ),
    path(
        "account/security/second-step/remove/",
        totp.DeactivateTOTPView.as_view(**step(SignInStep.REMOVE_FACTOR)),
        name="mfa_deactivate_totp",
    ),
    path(
        "account/security/recovery-codes/",
        never_cache(codes.ViewRecoveryCodesView.as_view(template_name="accounts/recovery_codes.html")),
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/security/recovery-codes/new/",
        codes.GenerateRecoveryCodesView.as_view(**step(SignInStep.NEW_CODES)),
        name="mfa_generate_recovery_codes",
    ),
    path("account/security/devices/<int:device>/end/", views.end_device, name="end-device"),
    path("account/security/devices/end/", views.sign_out_everywhere, name="sign-out-everywhere"),
]

PROVIDER = [
    path(
        "sign-in/with/failed/",
        social.LoginErrorView.as_view(**step(SignInStep.PROVIDER_FAILED)),
        name="socialaccount_login_error",
    ),
    path(
        "sign-in/with/cancelled/",
        social.LoginCancelledView.as_view(**step(SignInStep.PROVIDER_CANCELLED)),
        name="socialaccount_login_cancelled",
    ),
    path(
        "sign-in/with/name/",
        social.SignupView.as_view(**step(SignInStep.NAME_FOR_PROVIDER)),
        name="socialaccount_signup",
    ),
    path(
        "account/security/provider/",
        social.ConnectionsView.as_view(template_name="accounts/provider.html"),
        name="socialaccount_connections",
    ),
]
# The address that a provider has to be told stays the same whatever it is called here.
KNOWN = {"provider_id": settings.OIDC_PROVIDER_ID}
if settings.OIDC_PROVIDER_ID:
    PROVIDER += [
        path("sign-in/with/provider/", provider.login, KNOWN, name="openid_connect_login"),
        path("sign-in/with/provider/back/", provider.callback, KNOWN, name="openid_connect_callback"),
    ]

urlpatterns: list[URLPattern] = [*SIGN_IN, *PASSWORD, *SECURITY, *PROVIDER]
