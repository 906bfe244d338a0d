"""Budgets of people, groups, everybody and the installation, and what is spent of them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from sessions_app.admin.base import FilteredAdmin
from sessions_app.admin.limits import StackedInline
from sessions_app.models import Allowance
from sessions_app.prompt.pricing import BudgetScope, dollars
from sessions_app.runs.budgets import Spender
from sessions_app.wording import budgets

AMOUNTS = ("usd_per_day", "usd_per_month")
COUNTING = ("warn_percent", "counts_emulator")
OF_PERSON = {
    BudgetScope.TODAY: "The person’s budget for today",
    BudgetScope.THIS_MONTH: "The person’s budget for this month",
}
"""Names of budgets that call their person “you” elsewhere."""


class AllowanceInline(StackedInline):
    """On the page of a group or a person."""

    model = Allowance
    fields = (AMOUNTS, COUNTING)
    can_delete = True
    max_num = 1


@admin.register(Allowance)
class AllowanceAdmin(FilteredAdmin):
    """Neither a group nor a user nor the ceiling: the allowance of everybody."""

    list_display = ("__str__", *AMOUNTS, *COUNTING)
    list_select_related = ("owner", "group")
    fieldsets = (
        (
            None,
            {
                "fields": ("group", "owner", "is_ceiling"),
                "description": (
                    "None of them: everybody. An empty amount takes the value of the next: user, groups (the "
                    "largest), everybody. The ceiling is of what all people spend together, and nobody's "
                    "amount passes it."
                ),
            },
        ),
        ("US dollars at most", {"fields": (*AMOUNTS, *COUNTING)}),
    )
    autocomplete_fields = ("owner", "group")
    search_fields = ("owner__username", "group__name")
    search_help_text = "User or group"

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "is_ceiling":
            said = {"label": db_field.verbose_name.capitalize(), "help_text": db_field.help_text}
            return forms.BooleanField(required=False, **said)
        return super().formfield_for_dbfield(db_field, request, **kwargs)


def budgets_table(person: User) -> SafeString:
    """A line for each budget that applies to the person: what is spent, reserved and allowed."""
    lines = (
        (
            OF_PERSON.get(budget.scope) or budgets.name(budget),
            budgets.spent(budget),
            f", {dollars(budget.held)} reserved" if budget.held else "",
            dollars(budget.limit),
        )
        for budget in Spender.person(person.pk).budgets()
    )
    return format_html_join("", "<div>{}: {}{} of {}</div>", lines)
