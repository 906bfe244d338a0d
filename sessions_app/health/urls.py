from django.urls import path

from sessions_app.health import views

urlpatterns = [
    path("metrics", views.metrics, name="metrics"),
]
