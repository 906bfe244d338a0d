"""Where each page lives."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("sessions_app.accounts.urls")),
    path("", include("sessions_app.chat.urls")),
    path("", include("sessions_app.sharing.urls")),
    path("", include("sessions_app.capture.urls")),
    path("", include("sessions_app.inspector.urls")),
    path("", include("sessions_app.health.urls")),
    path("admin/", admin.site.urls),
]
