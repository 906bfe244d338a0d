"""Template filters for models."""

from django import template

from sessions_app.context.model_lookup import title_of

register = template.Library()
register.filter("model_title", title_of)
