"""MCP servers that administrators entered, and the tools that they listed.

Environment variables and headers of a server are secrets: they stand in the data folder
(`context.mcp_secrets`), never in rows.
"""

import uuid
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Self

import orjson
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from sessions_app.mcp_codes import Approval, ServerTransport

NAME_LIMIT = 20
FUNCTION_LIMIT = 64
"""Characters of a function's name in Gemini's API."""

TOOL_NAME_LIMIT = 200

APPROVALS = [
    (Approval.ALWAYS.value, "allowed without asking"),
    (Approval.ASK.value, "ask the person"),
    (Approval.NEVER.value, "never call it"),
]

KEPT = timedelta(days=1)
"""For which tools that are no longer listed are kept: a run that waits for a person goes on with its own."""


def _seconds(default: int, most: int, words: str) -> Any:
    limits = [MinValueValidator(1), MaxValueValidator(most)]
    return models.PositiveIntegerField(default=default, validators=limits, help_text=words)


class McpServer(models.Model):
    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(
        max_length=NAME_LIMIT,
        unique=True,
        validators=[
            RegexValidator(
                r"^[a-z](?:_?[a-z0-9])*\Z", "Small letters, digits and single underscores; a letter first."
            )
        ],
        help_text="Begins the names of its functions: to change it renames them, which starts new caches.",
    )
    title = models.CharField(max_length=80, help_text="What people read.")
    transport = models.CharField(
        max_length=8, choices=[(one.value, one.value) for one in ServerTransport], default="stdio"
    )
    command = models.CharField(max_length=400, blank=True)
    arguments = models.JSONField(default=list, blank=True, help_text="A list of texts.")
    url = models.CharField("URL", max_length=400, blank=True)
    is_on = models.BooleanField("on", default=True)
    for_everybody = models.BooleanField(default=False, help_text="Else only these groups and people.")
    groups = models.ManyToManyField("auth.Group", blank=True, related_name="mcp_servers")
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="mcp_servers")
    approval = models.CharField(
        max_length=8,
        choices=APPROVALS,
        default=Approval.ASK.value,
        help_text="Of each call, where the tool below says nothing else.",
    )
    start_seconds = _seconds(20, 300, "For its start.")
    list_seconds = _seconds(20, 300, "For the list of its tools.")
    call_seconds = _seconds(60, 3_600, "For one call.")
    idle_seconds = _seconds(300, 86_400, "Without a call, after which it is stopped.")
    listed_at = models.DateTimeField(null=True, blank=True, editable=False)
    losses = models.JSONField(
        default=list, editable=False, help_text="What of its list was left out: [code, count]."
    )
    problem = models.JSONField(
        default=dict, editable=False, help_text="Why it could not be used the last time: code and figures."
    )
    problem_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name"]
        verbose_name = "MCP server"

    def __str__(self) -> str:
        return self.title

    def note_problem(self, problem: dict[str, Any]) -> None:
        """Plainly, since it is no change by a person."""
        now = timezone.now() if problem else None
        type(self).objects.filter(pk=self.pk).update(problem=problem, problem_at=now)


class McpToolQuerySet(models.QuerySet["McpTool"]):
    def usable_by(self, user_id: int) -> Self:
        """The tools of servers that this person may use, also such as are no longer listed."""
        allowed = Q(for_everybody=True) | Q(groups__user=user_id) | Q(people=user_id)
        servers = McpServer.objects.filter(allowed, is_on=True).values("pk")
        return self.filter(server__in=servers).select_related("server").order_by("function")

    def offered(self) -> Self:
        """Those that are listed and not forbidden."""
        never = Approval.NEVER.value
        return self.filter(is_listed=True).exclude(Q(approval=never) | Q(approval="", server__approval=never))

    def asking(self, user_id: int, keys: Collection[int]) -> set[int]:
        """Those of these tools of which this person is asked before a call, as it is now: one query.

        What may not be called at all is not asked about.
        """
        rows = self.usable_by(user_id).filter(pk__in=keys).defer("declaration", "losses")
        return {row.pk for row in rows if row.asks}

    @transaction.atomic
    def store_listing(self, server_pk: int, listed: "Sequence[McpTool]", losses: list[Any]) -> bool:
        """Makes these the server's tools; returns whether the list is another one.

        A row is never changed: a tool with another declaration is another row, without the approval that the
        earlier one had.
        """
        server = McpServer.objects.select_for_update().get(pk=server_pk)
        known = {(row.name, row.sha256): row for row in self.filter(server=server)}
        keys = {(row.name, row.sha256) for row in listed}
        fresh = [row for row in listed if (row.name, row.sha256) not in known]
        back = [known[key].pk for key in keys if key in known and not known[key].is_listed]
        gone = [row.pk for key, row in known.items() if row.is_listed and key not in keys]
        for row in fresh:
            row.server = server
        self.filter(pk__in=gone).update(is_listed=False, changed_at=timezone.now())
        self.bulk_create(fresh)
        # One that comes back is as new: whoever approved it approved what was listed then.
        self.filter(pk__in=back).update(is_listed=True, approval="", changed_at=timezone.now())
        self.filter(server=server, is_listed=False, changed_at__lt=timezone.now() - KEPT).delete()
        McpServer.objects.filter(pk=server_pk).update(
            listed_at=timezone.now(), losses=losses, problem={}, problem_at=None
        )
        return bool(fresh or back or gone)


class McpTool(models.Model):
    """A tool as a server listed it. `name` is the server's, `function` the name that the model calls."""

    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="tools")
    name = models.CharField(max_length=TOOL_NAME_LIMIT)
    function = models.CharField(max_length=FUNCTION_LIMIT)
    title = models.CharField(max_length=TOOL_NAME_LIMIT)
    # Text, since PostgreSQL orders the keys of its own JSON anew.
    declaration = models.TextField(help_text="The functionDeclaration that is sent, as JSON.")
    losses = models.JSONField(default=list, help_text="What of its schema was left out: [code, place].")
    sha256 = models.CharField(max_length=64, help_text="Of what the server listed.")
    approval = models.CharField(max_length=8, blank=True, choices=[("", "as the server"), *APPROVALS])
    is_listed = models.BooleanField(default=True)
    changed_at = models.DateTimeField(default=timezone.now)

    objects = McpToolQuerySet.as_manager()

    class Meta:
        ordering = ["function"]
        verbose_name = "MCP tool"
        constraints = [
            models.UniqueConstraint(fields=["server", "name", "sha256"], name="mcp_tool_once"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def declared(self) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(self.declaration)
        return found

    @property
    def effective_approval(self) -> Approval:
        return Approval(self.approval or self.server.approval)

    @property
    def asks(self) -> bool:
        """Whether a person is asked: also before an allowed tool that is no longer listed."""
        approval = self.effective_approval
        return approval is Approval.ASK or (approval is Approval.ALWAYS and not self.is_listed)


class ToolGrantQuerySet(models.QuerySet["ToolGrant"]):
    def keys(self, session_pk: int) -> set[tuple[int, str, str]]:
        """Server, name there and sha256 of each tool that runs in this session without an ask."""
        return set(self.filter(session=session_pk).values_list("server_id", "tool", "sha256"))

    def take_back(self, session_pk: int, functions: Collection[str]) -> None:
        """The person is asked again before calls of these functions."""
        tools = McpTool.objects.filter(server=OuterRef("server"), name=OuterRef("tool"))
        self.filter(Exists(tools.filter(function__in=functions)), session=session_pk).delete()


class ToolGrant(models.Model):
    """“Always in this chat”: a tool, as it was declared then, that runs in a session without an ask.

    It lasts until the person switches the tool off there.
    """

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="tool_grants")
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=TOOL_NAME_LIMIT)
    sha256 = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now)

    objects = ToolGrantQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "server", "tool"], name="tool_grant_once")]

    def __str__(self) -> str:
        return f"grant {self.pk}"
