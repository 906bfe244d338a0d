"""Sign-in by password or by a link that can be used once."""

from typing import Any

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME, login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from sessions_app.accounts.forms import SignInForm
from sessions_app.accounts.sign_ins import BY_LINK
from sessions_app.accounts.throttle import say_wait
from sessions_app.models import SignInLink

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


class PasswordSignIn(LoginView):
    template_name = "registration/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"local": settings.DEBUG}

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        return say_wait(super().form_invalid(form), form)


def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Stands in place of the admin's own form, which knows no limit.

    Raises PermissionDenied for who is signed in and is no staff.
    """
    if request.user.is_authenticated and not request.user.is_staff:
        raise PermissionDenied
    return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME) or reverse("admin:index"))


@method_decorator(never_cache, name="dispatch")
class LinkSignIn(View):
    """GET only shows a button, because chat and mail clients prefetch links."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        if not SignInLink.is_live(token):
            return expired_link(request)
        return render(request, "registration/link.html")

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        user = SignInLink.redeem(token)
        if user is None:
            return expired_link(request)
        # Nothing of another person's session goes on; in a team the link stands for a second factor too.
        request.session.flush()
        request.session[BY_LINK] = True
        login(request, user, backend=MODEL_BACKEND)
        return redirect(settings.LOGIN_REDIRECT_URL)


def expired_link(request: HttpRequest) -> HttpResponse:
    return render(request, "registration/dead_link.html", {"local": settings.DEBUG}, status=410)
