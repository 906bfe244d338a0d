"""What templates ask of a person's workspace."""

from django import template
from django.contrib.auth.models import User

from sessions_app.context.workspaces import workspace_of

register = template.Library()


@register.simple_tag
def has_workspace_files(user: User) -> bool:
    """Whether there is anything to choose from."""
    return bool(workspace_of(user.pk).list(limit=1))
