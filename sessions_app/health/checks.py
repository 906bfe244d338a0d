"""Is this process fit to serve: the one question behind /healthz."""

import tomllib
from functools import cache

from django.conf import settings
from django.db import DatabaseError, connection

REDIS_SECONDS = 1.0
"""A Redis that takes longer is as good as away."""


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def redis_answers() -> bool:
    # An extra that a single process does without.
    from redis import Redis, RedisError

    limits = {"socket_connect_timeout": REDIS_SECONDS, "socket_timeout": REDIS_SECONDS}
    try:
        with Redis.from_url(settings.REDIS_URL, **limits) as client:
            return bool(client.ping())
    except (RedisError, OSError):
        return False


@cache
def version() -> str:
    """The release, as pyproject.toml has it."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])
