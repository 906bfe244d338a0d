"""Secrets of MCP servers: what a file in their place says that none can be read from."""

from pathlib import Path

import pytest
from pytest_django import Settings

from sessions_app.context.mcp_secrets import FOLDER, keep_secrets, secrets_of
from sessions_app.context.mcp_servers import spec_of
from sessions_app.errors import McpServerFailed
from sessions_app.mcp_codes import ServerProblem
from sessions_app.models import McpServer
from tests.mcp.entering import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings: Settings, tmp_path: Path) -> McpServer:
    settings.PIPEWEB_DATA = tmp_path
    return enter(settings)


def test_a_server_without_a_file_has_none(server: McpServer) -> None:
    assert dict(secrets_of(server)) == {}
    keep_secrets(server, {"TOKEN": "one"})
    assert dict(secrets_of(server)) == {"TOKEN": "one"}


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"TOKEN": 1}', b"\xff"])
def test_a_file_that_cannot_be_read_is_a_problem_of_the_server(
    server: McpServer, tmp_path: Path, content: bytes | None
) -> None:
    keep_secrets(server, {"TOKEN": "one"})
    (path,) = (tmp_path / FOLDER).iterdir()
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(McpServerFailed) as failed:
        spec_of(server, 0)
    assert failed.value.reason is ServerProblem.SECRETS_UNREADABLE
