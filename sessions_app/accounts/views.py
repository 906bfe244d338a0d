"""Sign-in by password or by a link that can be used once."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from sessions_app.models import SignInLink

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


class PasswordSignIn(LoginView):
    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"local": settings.DEBUG}


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
        login(request, user, backend=MODEL_BACKEND)
        return redirect(settings.LOGIN_REDIRECT_URL)


def expired_link(request: HttpRequest) -> HttpResponse:
    return render(request, "registration/dead_link.html", {"local": settings.DEBUG}, status=410)
