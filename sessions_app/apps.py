from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_delete, post_migrate


class SessionsAppConfig(AppConfig):
    name = "sessions_app"
    verbose_name = "Pipeweb"

    def ready(self) -> None:
        from sessions_app import append_only
        from sessions_app.accounts import logged_changes
        from sessions_app.context.workspaces import remove_with_user
        from sessions_app.fulltext import restore_triggers
        from sessions_app.models.model_lifecycle import seed_lifecycles
        from sessions_app.models.price import seed_prices
        from sessions_app.models.search_price import seed_search_prices

        logged_changes.connect()
        if settings.PIPEWEB_ACCOUNTS == "team":
            from sessions_app.accounts.team import receivers

            receivers.connect()
        post_migrate.connect(restore_triggers, sender=self)
        post_migrate.connect(append_only.restore_triggers, sender=self)
        post_delete.connect(remove_with_user, sender=settings.AUTH_USER_MODEL)
        post_migrate.connect(seed_prices, sender=self)
        post_migrate.connect(seed_search_prices, sender=self)
        post_migrate.connect(seed_lifecycles, sender=self)
