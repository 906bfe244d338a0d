"""The rules of retention with a preview of what they take, and reports of what they took."""

from collections import Counter
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from sessions_app.admin.base import FilteredAdmin, RecordAdmin
from sessions_app.models import RetentionReport, RetentionRules
from sessions_app.runs.retention import due_now
from sessions_app.wording.retention import REASONS
from sessions_app.wording.sentences import counted

RULES = ("payload_days", "payload_mb", "session_days", "session_mb", "trash_days")


@admin.register(RetentionRules)
class RetentionRulesAdmin(FilteredAdmin):
    """One row. Saved rules take effect within the hour; the preview is of the saved ones."""

    list_display = ("__str__", *RULES)
    fields = (*RULES, "preview")
    readonly_fields = ("preview",)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description="due now")
    def preview(self, rules: RetentionRules) -> SafeString | str:
        due = due_now()
        counts, sizes = Counter(one.rule for one in due), Counter[Any]()
        for one in due:
            sizes[one.rule] += one.size
        lines = (
            (REASONS[rule], counted(count, "session"), filesizeformat(sizes[rule]))
            for rule, count in counts.items()
        )
        return format_html_join("", "<div>{}: {}, {}</div>", lines) or "Nothing."


@admin.register(RetentionReport)
class RetentionReportAdmin(RecordAdmin):
    list_display = (
        "at",
        "purged_sessions",
        "purged_exchanges",
        "erased_sessions",
        "erased_from_trash",
        "size",
    )
    date_hierarchy = "at"
    fields = list_display

    @admin.display(ordering="bytes", description="bytes")
    def size(self, row: RetentionReport) -> str:
        return filesizeformat(row.bytes)

    readonly_fields = ("size",)
