"""MCP servers of this installation as connections need them."""

import os

from django.conf import settings
from django.db.models.signals import m2m_changed, post_delete
from django.dispatch import receiver

from sessions_app.context.mcp_logs import delete_logs_of_server, log_path
from sessions_app.context.mcp_secrets import keep_secrets, secrets_of
from sessions_app.context.model_lookup import TimedCache
from sessions_app.context.outbound import provider_transport
from sessions_app.errors import McpServerFailed
from sessions_app.mcp.listing import ListedTool, Listing
from sessions_app.mcp.spec import ServerSpec
from sessions_app.mcp_codes import ServerProblem, ServerTransport
from sessions_app.models import McpServer, McpTool
from sessions_app.prompt.wire import dumps

_any: TimedCache[bool] = TimedCache(McpServer)


def any_servers() -> bool:
    """Whether one is entered; kept in memory for a while (`model_lookup.TTL`)."""
    return _any.get("any", McpServer.objects.exists)


def clear_servers() -> None:
    """They are read from the database again."""
    _any.clear()


def spec_of(server: McpServer, person: int) -> ServerSpec:
    """Raises McpServerFailed for a command that is not (or no longer) allowed, or not there."""
    is_process = server.transport == ServerTransport.STDIO
    if is_process and server.command not in settings.PIPEWEB_MCP_COMMANDS:
        raise McpServerFailed(ServerProblem.COMMAND_NOT_ALLOWED, command=server.command)
    if is_process and not os.access(server.command, os.X_OK):
        raise McpServerFailed(ServerProblem.NOT_STARTED, command=server.command)
    return ServerSpec(
        key=str(server.public),
        name=server.name,
        transport=ServerTransport(server.transport),
        command=(server.command, *server.arguments) if is_process else (),
        url="" if is_process else server.url,
        secrets=secrets_of(server),
        start_seconds=server.start_seconds,
        list_seconds=server.list_seconds,
        call_seconds=server.call_seconds,
        idle_seconds=server.idle_seconds,
        stderr=log_path(server, person) if is_process else None,
        network=provider_transport,
    )


def store_listing(public: str, listing: Listing) -> None:
    """Nothing where the server was removed meanwhile."""
    server = McpServer.objects.filter(public=public).first()
    if server is not None:
        rows = [_row(tool) for tool in listing.tools]
        McpTool.objects.store_listing(server.pk, rows, [list(loss) for loss in listing.losses])


def note_failure(public: str, failure: McpServerFailed) -> None:
    server = McpServer.objects.filter(public=public).first()
    if server is not None:
        server.note_problem({"code": failure.reason.value, "figures": failure.figures})


@receiver(post_delete, sender=McpServer)
def _forget_server(instance: McpServer, **_: object) -> None:
    keep_secrets(instance, {})
    delete_logs_of_server(instance)


def _row(tool: ListedTool) -> McpTool:
    return McpTool(
        name=tool.name,
        function=tool.function,
        title=tool.title,
        declaration=dumps(tool.declaration).decode(),
        losses=[list(loss) for loss in tool.losses],
        sha256=tool.sha256,
    )


for _through in (McpServer.groups.through, McpServer.people.through):
    m2m_changed.connect(_any.clear_on_change, sender=_through)
