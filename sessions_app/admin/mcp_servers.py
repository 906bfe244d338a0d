"""MCP servers: what is started or reached, for whom, and which of its tools ask before a call."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from sessions_app.admin.base import FilteredAdmin
from sessions_app.context.mcp_logs import KEPT, listing_log, person_logs
from sessions_app.context.mcp_secrets import HEADER, VARIABLE, keep_secrets, secrets_of, shown
from sessions_app.errors import McpServerFailed
from sessions_app.log_codes import LoggedAction
from sessions_app.mcp_codes import ServerTransport
from sessions_app.models import McpServer, McpTool
from sessions_app.models.audit_entry import record
from sessions_app.panels.mcp_tools import list_now
from sessions_app.values import check_text
from sessions_app.wording.mcp import (
    LOG_UNREADABLE,
    NO_COMMANDS,
    SECRETS_NOT_KEPT,
    listing_loss,
    problem_texts,
    schema_loss,
)
from sessions_app.wording.sentences import counted

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[McpServer]
    TabularInline = admin.TabularInline[Any, Any]
else:
    # Generic only in the stubs.
    ModelForm, TabularInline = forms.ModelForm, admin.TabularInline

SECRETS_LIMIT = 20_000
ARGUMENTS_LIMIT = 10_000
PEOPLE_STDERR = (
    "What is in them is not shown, since it may be what people wrote: the files lie in the data folder for "
    f"{KEPT.days} days after they were written last."
)


def sentence_of(failure: McpServerFailed) -> str:
    return problem_texts(failure.reason, failure.figures)[0]


class McpServerForm(ModelForm):
    command = forms.ChoiceField(required=False)
    arguments = forms.CharField(
        required=False,
        max_length=ARGUMENTS_LIMIT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line. They are shown here and to everybody on the machine: no secrets.",
    )
    secrets = forms.CharField(
        label="Variables or headers",
        required=False,
        max_length=SECRETS_LIMIT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"}),
        help_text=(
            "NAME=value, one a line: environment variables of a process, headers of a URL. What is written "
            "here is added, NAME= removes one. Values are kept in the data folder and never shown again."
        ),
    )

    class Meta:
        model = McpServer
        fields = (
            *("name", "title", "transport", "command", "arguments", "url", "is_on", "for_everybody"),
            *("groups", "people", "approval", "start_seconds", "list_seconds", "call_seconds"),
            "idle_seconds",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        allowed = list(settings.PIPEWEB_MCP_COMMANDS)
        if self.instance.command and self.instance.command not in allowed:
            allowed.append(self.instance.command)
        command: Any = self.fields["command"]
        command.choices = [("", "–"), *((one, one) for one in allowed)]
        command.help_text = "Of PIPEWEB_MCP_COMMANDS." if settings.PIPEWEB_MCP_COMMANDS else NO_COMMANDS
        self.initial["arguments"] = "\n".join(self.instance.arguments)

    def clean_arguments(self) -> list[str]:
        return [line for line in check_text(self.cleaned_data["arguments"]).splitlines() if line]

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"].strip()
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValidationError("An address begins with https:// or http:// and names a host.")
        if parts.username or parts.password:
            raise ValidationError("No password in an address: write it as a header below.")
        return url

    def clean_secrets(self) -> dict[str, str]:
        """What is typed, by name; an empty value removes one."""
        typed = dict[str, str]()
        for line in check_text(self.cleaned_data["secrets"]).splitlines():
            name, separator, value = line.partition("=")
            if not line.strip():
                continue
            if not separator:
                raise ValidationError("Each line is NAME=value.")
            typed[name.strip()] = value.strip()
        return typed

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        is_process = cleaned.get("transport") == ServerTransport.STDIO
        if is_process and not cleaned.get("command") and "command" in cleaned:
            self.add_error("command", NO_COMMANDS if not settings.PIPEWEB_MCP_COMMANDS else "Choose one.")
        if not is_process and not cleaned.get("url") and "url" in cleaned:
            self.add_error("url", "Where is the server?")
        pattern = VARIABLE if is_process else HEADER
        if cleaned.get("secrets") and (problem := self._secrets_problem()):
            self.add_error("secrets", problem)
        if wrong := [name for name in cleaned.get("secrets", {}) if not pattern.fullmatch(name)]:
            what = "a variable" if is_process else "a header"
            self.add_error("secrets", f"“{wrong[0][:40]}” is no name of {what}.")
        return cleaned

    def _secrets_problem(self) -> str:
        """What is typed is added to what is kept, which has to be read."""
        try:
            secrets_of(self.instance)
        except McpServerFailed as failure:
            return sentence_of(failure)
        return ""


class McpToolInline(TabularInline):
    """What the server listed; only the approval is the administrator's."""

    model = McpTool
    fields = ("title", "function", "approval", "left_out")
    readonly_fields = ("title", "function", "left_out")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(is_listed=True)

    @admin.display(description="not declared to the model")
    def left_out(self, tool: McpTool) -> SafeString:
        return format_html_join("", "<div>{}</div>", ((schema_loss(*loss),) for loss in tool.losses))


@admin.register(McpServer)
class McpServerAdmin(FilteredAdmin):
    """Saving starts the server once and lists its tools."""

    form = McpServerForm
    inlines = (McpToolInline,)
    list_display = ("title", "name", "transport", "is_on", "approval", "for_everybody", "listed_at", "state")
    list_filter = ("transport", "is_on")
    search_fields = ("name", "title")
    search_help_text = "Name or title"
    filter_horizontal = ("groups", "people")
    readonly_fields = ("kept_secrets", "state", "left_out", "listing_stderr", "people_stderr", "listed_at")
    fieldsets = (
        (None, {"fields": (("name", "title"), ("transport", "is_on"), "approval")}),
        ("A program (stdio)", {"fields": ("command", "arguments")}),
        ("An address (streamable HTTP)", {"fields": ("url",)}),
        ("Secrets", {"fields": ("kept_secrets", "secrets")}),
        ("Who may use it", {"fields": ("for_everybody", "groups", "people")}),
        ("Seconds", {"fields": (("start_seconds", "list_seconds", "call_seconds", "idle_seconds"),)}),
        ("How it is", {"fields": (("listed_at", "state"), "left_out", "listing_stderr", "people_stderr")}),
    )
    actions = ("list_tools",)

    def save_model(self, request: HttpRequest, obj: McpServer, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if typed := form.cleaned_data["secrets"]:
            kept = dict(secrets_of(obj))
            now = {name: value for name, value in {**kept, **typed}.items() if value}
            try:
                keep_secrets(obj, now)
            except OSError:
                self.message_user(request, SECRETS_NOT_KEPT, messages.ERROR)
                return
            names = {"secrets": [sorted(kept), sorted(now)]}
            record(LoggedAction.SERVER_CHANGED, request.user, obj, changes=names)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if form.instance.is_on:
            self._list(request, form.instance)

    @admin.action(description="List the tools now", permissions=["change"])
    def list_tools(self, request: HttpRequest, queryset: Any) -> None:
        for server in queryset:
            self._list(request, server)

    def _list(self, request: HttpRequest, server: McpServer) -> None:
        failure = list_now(server)
        if failure is not None:
            self.message_user(request, f"{server.title}: {sentence_of(failure)}", messages.WARNING)
            return
        count = server.tools.filter(is_listed=True).count()
        self.message_user(request, f"{server.title}: {counted(count, 'tool')}.", messages.SUCCESS)

    @admin.display(description="kept")
    def kept_secrets(self, server: McpServer) -> SafeString | str:
        try:
            lines = shown(secrets_of(server)) if server.pk else []
        except McpServerFailed as failure:
            return sentence_of(failure)
        return format_html_join("", "<div>{}</div>", ((line,) for line in lines)) or "None."

    @admin.display(description="problem")
    def state(self, server: McpServer) -> str:
        if not server.problem:
            return "None." if server.listed_at else "Not listed yet."
        return problem_texts(server.problem["code"], server.problem["figures"])[0]

    @admin.display(description="left out of the list")
    def left_out(self, server: McpServer) -> SafeString | str:
        lines = ((listing_loss(code, count),) for code, count in server.losses)
        return format_html_join("", "<div>{}</div>", lines) or "Nothing."

    @admin.display(description="stderr when the tools were listed")
    def listing_stderr(self, server: McpServer) -> SafeString | str:
        """Nothing of it where the secrets cannot be read that it may hold."""
        try:
            text = listing_log(server) if server.pk else ""
        except McpServerFailed as failure:
            return sentence_of(failure)
        except OSError:
            return LOG_UNREADABLE
        return format_html("<pre>{}</pre>", text) if text else "Nothing."

    @admin.display(description="stderr while people called")
    def people_stderr(self, server: McpServer) -> SafeString | str:
        """Tells whose logs there are, not their text: a server may log what it is asked."""
        logs = person_logs(server) if server.pk else []
        lines = (
            (log.username, filesizeformat(log.size), date_format(localtime(log.written_at), "j M Y, H:i:s"))
            for log in logs
        )
        found = format_html_join("", "<div>{}: {}, written last at {}</div>", lines)
        return format_html("{}<div>{}</div>", found, PEOPLE_STDERR) if found else "Nothing."
