"""The admin: metadata of every row that matters, content of none.

What people wrote and what the model answered is read through the inspector, by its owner. Here
are sizes, times, counts and states; titles are content too, since they are made from messages.
"""

from django.contrib import admin

from sessions_app.admin import caches, exchanges, facts, money, panels, people, runs, sessions, texts, turns

__all__ = ["caches", "exchanges", "facts", "money", "panels", "people", "runs", "sessions", "texts", "turns"]

admin.site.site_header = "Pipeweb admin"
admin.site.site_title = "Pipeweb admin"
admin.site.index_title = "Rows, not content"
