"""The settings of a test run: a throw-away data folder, no key, no address outside this machine.

What the developer's shell holds must not change a result, so it is taken out before
`pipeweb.settings` reads the environment. DATABASE_URL stays: it picks the database under test.
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
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "LOG_LEVEL",
    "PIPEWEB_MODEL",
    "PIPEWEB_WORKSPACES",
    "REDIS_URL",
    "SECRET_KEY",
):
    os.environ.pop(name, None)

data = Path(tempfile.mkdtemp(prefix="pipeweb-tests-"))
atexit.register(shutil.rmtree, data, ignore_errors=True)
os.environ["PIPEWEB_DATA"] = str(data)
os.environ["PIPEWEB_EMULATOR_DELAY"] = "0"

from pipeweb.settings import *  # noqa: E402, F403

# A file, since threads of one process must see the same database.
if "sqlite" in DATABASES["default"]["ENGINE"]:  # noqa: F405
    DATABASES["default"]["TEST"] = {"NAME": str(data / "test.sqlite3")}  # noqa: F405
# Whitenoise warns about a folder that is not there, and warnings are errors.
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Nothing is collected for a test, so no name has a hash.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
