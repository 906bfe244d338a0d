"""What PIPEWEB_ACCOUNTS=team adds to the settings: django-allauth with its applications and rules.

Imported only then. `team_settings` is given the settings as far as they are read and returns the others.
"""

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from sessions_app.errors import SettingsError

APPS = [
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]

BEFORE = "sessions_app.chat.time_zone.time_zone_middleware"

MIDDLEWARE = [
    "allauth.account.middleware.AccountMiddleware",
    "sessions_app.accounts.team.middleware.complete_sign_in_middleware",
]

FORMS = "sessions_app.accounts.team.forms"
ADAPTERS = "sessions_app.accounts.team.adapters"


def team_settings(read: Mapping[str, Any]) -> dict[str, Any]:
    """Raises SettingsError."""
    # Before ours, so that the admin takes away the pages that they register there.
    apps = [one for one in read["INSTALLED_APPS"] if one != "sessions_app"]
    at = read["MIDDLEWARE"].index(BEFORE)
    return {
        "INSTALLED_APPS": [*apps, *APPS, "sessions_app"],
        "MIDDLEWARE": [*read["MIDDLEWARE"][:at], *MIDDLEWARE, *read["MIDDLEWARE"][at:]],
        **_account_settings(read),
        **_second_factor_settings(),
        **_provider_settings(read),
        **_mail_settings(str(read["EMAIL_URL"])),
        **_cache_settings(str(read["REDIS_URL"])),
    }


def _account_settings(read: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ACCOUNT_ADAPTER": f"{ADAPTERS}.AccountAdapter",
        "ACCOUNT_FORMS": {
            "change_password": f"{FORMS}.ChangePasswordForm",
        },
        "ACCOUNT_LOGIN_METHODS": {"username"},
        "ACCOUNT_SIGNUP_FIELDS": ["username*", "email", "password1*", "password2*"],
        "ACCOUNT_EMAIL_VERIFICATION": "optional" if read["EMAIL_URL"] else "none",
        "ACCOUNT_EMAIL_NOTIFICATIONS": bool(read["EMAIL_URL"]),
        "ACCOUNT_EMAIL_SUBJECT_PREFIX": "Pipeweb: ",
        "ACCOUNT_SESSION_REMEMBER": True,
        "ACCOUNT_DEFAULT_HTTP_PROTOCOL": "http" if read["DEBUG"] else "https",
        # Guesses are counted in the audit log (`accounts.throttle`), which all processes share and which
        # tells of them. What is no guess has a limit of allauth, in the cache.
        "ACCOUNT_RATE_LIMITS": {"login": None, "login_failed": None, "reauthenticate": None},
    }


def _second_factor_settings() -> dict[str, Any]:
    return {
        "MFA_ADAPTER": f"{ADAPTERS}.FactorAdapter",
        "MFA_FORMS": {
            "authenticate": f"{FORMS}.CodeForm",
            "reauthenticate": f"{FORMS}.ConfirmingCodeForm",
        },
        "MFA_SUPPORTED_TYPES": ["totp", "recovery_codes"],
        "MFA_RECOVERY_CODES_SHOW_ONCE": True,
        "MFA_RECOVERY_CODE_DIGITS": 10,
        "MFA_TOTP_ISSUER": "Pipeweb",
        # A clock may be half a minute off.
        "MFA_TOTP_TOLERANCE": 1,
        # Addresses are confirmed by administrators where no mail is sent.
        "MFA_ALLOW_UNVERIFIED_EMAIL": True,
    }


def _provider_settings(read: Mapping[str, Any]) -> dict[str, Any]:
    issuer, client = str(read["PIPEWEB_OIDC_ISSUER"]).rstrip("/"), read["PIPEWEB_OIDC_CLIENT"]
    if bool(issuer) != bool(client):
        raise SettingsError("PIPEWEB_OIDC_ISSUER and PIPEWEB_OIDC_CLIENT are set together or not at all.")
    if read["PIPEWEB_REGISTRATION"] == "provider" and not issuer:
        raise SettingsError("PIPEWEB_REGISTRATION is provider, and PIPEWEB_OIDC_ISSUER names none.")
    # Another provider may give the same number to somebody else, so its accounts are others.
    provider_id = "oidc-" + hashlib.sha256(issuer.encode()).hexdigest()[:12]
    app = {
        "provider_id": provider_id,
        "name": read["PIPEWEB_OIDC_NAME"],
        "client_id": client,
        "secret": read["PIPEWEB_OIDC_SECRET"],
        "settings": {"server_url": issuer, "oauth_pkce_enabled": True},
    }
    return {
        "OIDC_PROVIDER_ID": provider_id if issuer else "",
        "SOCIALACCOUNT_ADAPTER": f"{ADAPTERS}.ProviderAdapter",
        "SOCIALACCOUNT_PROVIDERS": {"openid_connect": {"APPS": [app] if issuer else []}},
        "SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT": True,
        # A form that leads to another site would break our content security policy; a link does not.
        "SOCIALACCOUNT_LOGIN_ON_GET": True,
        "SOCIALACCOUNT_EMAIL_VERIFICATION": "none",
        "SOCIALACCOUNT_REAUTHENTICATION_REQUIRED": True,
    }


def _mail_settings(url: str) -> dict[str, Any]:
    """Encrypted from the start (smtps), or after a greeting (smtp), except to this machine."""
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    parts = urlsplit(url)
    is_local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if parts.scheme == "smtps" else 25 if is_local else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp" and not is_local,
        "EMAIL_TIMEOUT": 20,
    }


def _cache_settings(redis: str) -> dict[str, Any]:
    """A code that was used in one process must be known as used in the others."""
    if not redis:
        return {}
    return {
        "CACHES": {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": redis}}
    }
