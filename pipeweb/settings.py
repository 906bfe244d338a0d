"""Every setting of Pipeweb, read from the environment here and nowhere else.

A line that starts with `#:` documents the variable below it; README.md repeats them in a table.
A missing or wrong value raises SettingsError: one line on the terminal, exit code 2.
"""

import os
from pathlib import Path

from csp.constants import NONCE, NONE, SELF

from pipeweb.environment import ENOUGH, LEVELS, Environment, check_secret, kept_secret
from pipeweb.logs import logging_config
from sessions_app.body_limits import FORM_FIELDS, FORM_LIMIT
from sessions_app.errors import SettingsError

BASE_DIR = Path(__file__).resolve().parent.parent

environment = Environment(os.environ)
environment.refuse_unknown(
    "PIPEWEB_",
    known={
        "PIPEWEB_DATA",
        "PIPEWEB_WORKSPACES",
        "PIPEWEB_MODEL",
        "PIPEWEB_DIALECT",
        "PIPEWEB_EMULATOR_DELAY",
        "PIPEWEB_REPLAY",
        "PIPEWEB_RECORDINGS",  # read by the tests
        "PIPEWEB_LOOPBACK_PAGES",
        "PIPEWEB_CAPTURE",
        "PIPEWEB_MCP_COMMANDS",
        "PIPEWEB_MCP_ASK_MINUTES",
        "PIPEWEB_ACCOUNTS",
        "PIPEWEB_REGISTRATION",
        "PIPEWEB_SECOND_FACTOR",
        "PIPEWEB_OIDC_ISSUER",
        "PIPEWEB_OIDC_CLIENT",
        "PIPEWEB_OIDC_SECRET",
        "PIPEWEB_OIDC_NAME",
    },
)

#: Local use (on) or a deployment (off). Off demands SECRET_KEY and sends cookies over https only.
DEBUG = environment.flag("DEBUG", default=True)

#: Where Pipeweb keeps its database, secret and workspaces. Default: `var/` beside manage.py.
PIPEWEB_DATA = environment.folder("PIPEWEB_DATA", BASE_DIR / "var")

#: Root of the folders whose files sessions may read and write, one per user. Default: in PIPEWEB_DATA.
PIPEWEB_WORKSPACES = environment.folder("PIPEWEB_WORKSPACES", PIPEWEB_DATA / "workspaces")

#: Signs cookies. Made and kept in PIPEWEB_DATA for local use; required when DEBUG is off.
SECRET_KEY = environment.text("SECRET_KEY")
if not SECRET_KEY and not DEBUG:
    raise SettingsError("SECRET_KEY is required when DEBUG is off.", hint=ENOUGH)
if not DEBUG:
    check_secret("SECRET_KEY", SECRET_KEY)
SECRET_KEY = SECRET_KEY or kept_secret(PIPEWEB_DATA)

#: Host names that requests may carry, comma-separated. Default: the loopback names.
ALLOWED_HOSTS = environment.hosts("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])

#: Origins of an https proxy in front, comma-separated: https://chat.example.org
CSRF_TRUSTED_ORIGINS = environment.origins("CSRF_TRUSTED_ORIGINS")

#: sqlite:////absolute/path or postgres://user:password@host:port/name. Default: SQLite in PIPEWEB_DATA.
DATABASES = {"default": environment.database("DATABASE_URL", PIPEWEB_DATA / "pipeweb.sqlite3")}

#: redis://host:port/number: events between several processes. Default: one process, in memory.
REDIS_URL = environment.redis("REDIS_URL")

#: Key of the Gemini API. Without it Pipeweb runs on its own emulator.
GEMINI_API_KEY = environment.text("GEMINI_API_KEY")

#: Characters of a base URL that the row of an exchange holds.
BASE_URL_LIMIT = 255

#: Another address of the Gemini API: a proxy, or a stand-alone emulator. Default: Google's.
GOOGLE_GEMINI_BASE_URL = environment.base_url("GOOGLE_GEMINI_BASE_URL", longest=BASE_URL_LIMIT)

#: HTTP proxy of requests to Google or an https base URL: http://user:password@host:port. Default: none.
HTTPS_PROXY = environment.proxy("HTTPS_PROXY")

#: Hosts that are reached without it, comma-separated.
NO_PROXY = environment.in_either_case("NO_PROXY")

#: A PEM file of the authorities that are trusted for it. Default: the system's.
SSL_CERT_FILE = environment.certificates("SSL_CERT_FILE")

#: Model of a new session.
PIPEWEB_MODEL = environment.model("PIPEWEB_MODEL", "gemini-3.8-flash")

#: gemini, or openai: the provider's (or the emulator's) OpenAI-compatible endpoint, without explicit caches.
PIPEWEB_DIALECT = environment.choice("PIPEWEB_DIALECT", ("gemini", "openai"), "gemini")

#: Seconds the built-in emulator waits between two chunks of an answer.
PIPEWEB_EMULATOR_DELAY = environment.number("PIPEWEB_EMULATOR_DELAY", 0.02)

#: A folder of recorded exchanges that the built-in emulator serves wherever one matches. Default: none.
PIPEWEB_REPLAY = environment.existing_folder("PIPEWEB_REPLAY")

#: Web pages of this machine may be attached as well (on): for tests. Public pages always may.
PIPEWEB_LOOPBACK_PAGES = environment.flag("PIPEWEB_LOOPBACK_PAGES", default=False)

#: Whose requests are relayed under /capture/: those of programs on this machine (local), any (network), off.
PIPEWEB_CAPTURE = environment.choice("PIPEWEB_CAPTURE", ("local", "network", "off"), "local")

#: Programs that administrators may start as MCP servers: absolute paths, comma-separated. Default: none.
PIPEWEB_MCP_COMMANDS = environment.names("PIPEWEB_MCP_COMMANDS")
if any(not Path(command).is_absolute() for command in PIPEWEB_MCP_COMMANDS):
    raise SettingsError("PIPEWEB_MCP_COMMANDS takes absolute paths.", hint="/usr/bin/node,/usr/local/bin/uvx")

#: Minutes after which a call of an MCP tool that nobody allowed counts as refused.
PIPEWEB_MCP_ASK_MINUTES = environment.number("PIPEWEB_MCP_ASK_MINUTES", 10)

#: one: the stock sign-in by password or link. team: second factor, devices, sign-in with a provider.
PIPEWEB_ACCOUNTS = environment.choice("PIPEWEB_ACCOUNTS", ("one", "team"), "one")

#: Who may make an account: nobody (closed), whoever the provider below lets in (provider), anybody (open).
PIPEWEB_REGISTRATION = environment.choice("PIPEWEB_REGISTRATION", ("closed", "provider", "open"), "closed")

#: Who has to have a second factor: nobody (optional), staff, everybody.
PIPEWEB_SECOND_FACTOR = environment.choice(
    "PIPEWEB_SECOND_FACTOR", ("optional", "staff", "everybody"), "optional"
)

#: An OpenID Connect provider that people may sign in with: its address, our id and secret there, its name.
PIPEWEB_OIDC_ISSUER = environment.url("PIPEWEB_OIDC_ISSUER", ("http", "https"))
PIPEWEB_OIDC_CLIENT = environment.text("PIPEWEB_OIDC_CLIENT")
PIPEWEB_OIDC_SECRET = environment.text("PIPEWEB_OIDC_SECRET")
PIPEWEB_OIDC_NAME = environment.text("PIPEWEB_OIDC_NAME", "single sign-on")

# What accounts of this provider are stored under; `pipeweb.team` sets it.
OIDC_PROVIDER_ID = ""

#: smtp://user:password@host:587 or smtps://host: the server that sends mail to people of a team.
EMAIL_URL = environment.url("EMAIL_URL", ("smtp", "smtps"))

#: The sender of these mails.
DEFAULT_FROM_EMAIL = environment.text("DEFAULT_FROM_EMAIL", "pipeweb@localhost")

#: DEBUG, INFO, WARNING, ERROR or CRITICAL. Content of sessions is never logged.
LOG_LEVEL = environment.choice("LOG_LEVEL", LEVELS, "WARNING" if DEBUG else "INFO")

INSTALLED_APPS = [
    "daphne",  # first: it replaces runserver by its own
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "csp",
    "sessions_app",
]

MIDDLEWARE = [
    "sessions_app.health.middleware.health_middleware",
    "django.middleware.security.SecurityMiddleware",
    "sessions_app.accounts.headers.headers_middleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "sessions_app.accounts.acting.acting_middleware",
    "sessions_app.chat.time_zone.time_zone_middleware",
    "sessions_app.chat.not_found.NotFoundMiddleware",
    "sessions_app.chat.unreadable_form.UnreadableFormMiddleware",
    "sessions_app.chat.storage_refusals.StorageRefusalsMiddleware",
    "sessions_app.chat.over_limit.OverLimitMiddleware",
]

ROOT_URLCONF = "pipeweb.urls"
ASGI_APPLICATION = "pipeweb.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["pipeweb.template_loader.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
            "builtins": ["sessions_app.templatetags.icons", "sessions_app.templatetags.kept"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "sessions_app.chat.context_usage.provider_context",
                "sessions_app.accounts.preferences.view_mode",
                "sessions_app.chat.sidebar.sidebar",
            ],
        },
    },
]

CHANNEL_LAYERS = {
    "default": {
        # The core Redis layer drops idle consumers; the pub/sub layer holds (measured: stack B.1).
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL]},
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "pipeweb.formats"

# Bodies that are being received lie here, in files without a name (`pipeweb.bodies`).
FILE_UPLOAD_TEMP_DIR = PIPEWEB_DATA / "uploads"
FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, exist_ok=True)
# The umask decides: `up` collects static files into the data folder, which nobody else reads.
FILE_UPLOAD_PERMISSIONS = None
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "pipeweb.nameless_files.NamelessFileUploadHandler",
]
DATA_UPLOAD_MAX_MEMORY_SIZE = FORM_LIMIT
DATA_UPLOAD_MAX_NUMBER_FIELDS = FORM_FIELDS

STATIC_URL = "/static/"
STATIC_ROOT = PIPEWEB_DATA / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "pipeweb.bundles.BundleFinder",
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "pipeweb.storage.HashedFiles"},
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
CSRF_FAILURE_VIEW = "sessions_app.chat.error_pages.csrf_failure"
DEFAULT_EXCEPTION_REPORTER = "sessions_app.chat.error_pages.PageReporter"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
# Sent over https only; a local installation has none.
SECURE_HSTS_SECONDS = 0 if DEBUG else 365 * 24 * 3600
SESSION_COOKIE_NAME = "pipeweb_session"
SESSION_COOKIE_SECURE = not DEBUG
CSRF_COOKIE_NAME = "pipeweb_csrf"
CSRF_COOKIE_SECURE = not DEBUG

LOGGING = logging_config(LOG_LEVEL, json=not DEBUG)

if PIPEWEB_ACCOUNTS == "team":
    from pipeweb.team import team_settings

    globals().update(team_settings(globals()))
