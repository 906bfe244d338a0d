from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, path

from sessions_app.accounts import preferences, reading, views

if settings.PIPEWEB_ACCOUNTS == "team":
    from sessions_app.accounts.team.urls import urlpatterns as sign_in
else:
    sign_in = [path("sign-in", views.PasswordSignIn.as_view(), name="sign-in")]

urlpatterns: list[URLPattern] = [
    *sign_in,
    path("sign-in/<str:token>", views.LinkSignIn.as_view(), name="sign-in-link"),
    path("sign-out", LogoutView.as_view(), name="sign-out"),
    path("admin/login/", views.admin_sign_in, name="admin-sign-in"),
    path("account/readings/", reading.readings, name="readings"),
    path("view/", preferences.set_view_mode, name="set-view"),
]
