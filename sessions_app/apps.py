from django.apps import AppConfig
from django.db.models.signals import post_migrate


class SessionsAppConfig(AppConfig):
    name = "sessions_app"
    verbose_name = "Pipeweb"

    def ready(self) -> None:
        from sessions_app.fulltext import look_after

        post_migrate.connect(look_after, sender=self)
