"""The settings of a test run: a throw-away data folder, no key, no address outside this machine.

What the developer's shell holds must not change a result, so it is taken out before
`pipeweb.settings` reads the environment. DATABASE_URL stays: it picks the database under test; so does
PIPEWEB_ACCOUNTS, which picks the sign-in (`tests/accounts/test_team.py` runs tests with that of a team).
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

for name in (
    "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS",
    "DEBUG",
    "DEFAULT_FROM_EMAIL",
    "EMAIL_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "LOG_LEVEL",
    "PIPEWEB_MODEL",
    "PIPEWEB_OIDC_NAME",
    "PIPEWEB_OIDC_SECRET",
    "PIPEWEB_REGISTRATION",
    "PIPEWEB_SECOND_FACTOR",
    "PIPEWEB_WORKSPACES",
    "REDIS_URL",
    "SECRET_KEY",
):
    os.environ.pop(name, None)

data = Path(tempfile.mkdtemp(prefix="pipeweb-tests-"))
atexit.register(shutil.rmtree, data, ignore_errors=True)
os.environ["PIPEWEB_DATA"] = str(data)
os.environ["PIPEWEB_EMULATOR_DELAY"] = "0"
if os.environ.get("PIPEWEB_ACCOUNTS") == "team":
    # Its addresses are there; a test starts a provider and names it.
    os.environ.update(PIPEWEB_OIDC_ISSUER="http://127.0.0.1:9", PIPEWEB_OIDC_CLIENT="pipeweb")

from pipeweb.settings import *  # noqa: E402, F403

# A file, since threads of one process must see the same database.
if "sqlite" in DATABASES["default"]["ENGINE"]:  # noqa: F405
    DATABASES["default"]["TEST"] = {"NAME": str(data / "test.sqlite3")}  # noqa: F405
# Whitenoise warns about a folder that is not there, and warnings are errors.
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Nothing is collected for a test, so no name has a hash.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
