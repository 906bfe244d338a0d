"""What a process with default settings, at rest, has not imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

UNUSED = {
    "redis": "REDIS_URL",
    "channels_redis": "REDIS_URL",
    "psycopg": "DATABASE_URL",
    "OpenSSL": "TLS of Twisted: `up` serves plain HTTP",
    "autobahn.wamp.protocol": "WAMP",
    "cryptography": "TLS, and an account's second factor",
    "cbor2": "WAMP",
    "click": "WAMP",
    "greenlet": "structlog's storage by thread",
    "rich": "colours of structlog",
    "regex": "a search in files",
    "rapidfuzz": "the difference of two requests",
    "latex2mathml": "a formula",
    "sessions_app.gemini.openai_gateway": "PIPEWEB_DIALECT",
    "sessions_app.capture.relay": "a request of another program",
    "sessions_app.capture.recorder": "a request of another program",
    "aiohttp": "a request to the provider or of another program",
    "sessions_app.conform": "a command",
    "sessions_app.audit": "a command",
    "mcp": "an MCP server",
    "sessions_app.mcp.connection": "an MCP server",
    "sessions_app.documents.converting": "a Word document",
    "allauth": "PIPEWEB_ACCOUNTS",
    "qrcode": "PIPEWEB_ACCOUNTS",
    "requests": "PIPEWEB_ACCOUNTS",
    "sessions_app.accounts.team": "PIPEWEB_ACCOUNTS",
    "pipeweb.team": "PIPEWEB_ACCOUNTS",
}
"""Modules, and what has to be set or asked for before one is imported."""

PROGRAM = """
import json, sys
sys.argv = ["manage.py", "up"]
import manage
manage.execute = lambda argv: None
manage.run_command(["up"])
import django
django.setup()
import sessions_app.management.commands.up, pipeweb.asgi
from django.urls import get_resolver
get_resolver().url_patterns
print(json.dumps(sorted(name for name, module in sys.modules.items() if module is not None)))
"""


@pytest.mark.slow
def test_an_idle_process_has_imported_nothing_that_its_settings_do_not_use(tmp_path: Path) -> None:
    variables = {"PATH": os.environ.get("PATH", os.defpath), "PIPEWEB_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=variables, capture_output=True, check=True, text=True
    )
    imported = set(json.loads(done.stdout.splitlines()[-1]))
    assert "sessions_app.runs.runner" in imported and "twisted.internet.reactor" in imported
    assert {name for name in UNUSED if name in imported} == set()
