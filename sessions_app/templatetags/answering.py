"""Who answered an exchange, for templates."""

from django import template

from sessions_app.models.answering import host, other_model

register = template.Library()
register.filter("host", host)
register.filter("other_model", other_model)
