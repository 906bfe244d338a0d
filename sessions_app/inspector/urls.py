from django.urls import path

from sessions_app.inspector import downloads, views

SESSION = "s/<uuid:public>/inspect/"
EXCHANGE = SESSION + "<int:number>/"

urlpatterns = [
    path(SESSION, views.exchanges, name="exchanges"),
    path(EXCHANGE, views.exchange, name="exchange"),
    path(EXCHANGE + "whole/<slug:what>/<int:index>/", views.whole, name="exchange-whole"),
    path(EXCHANGE + "rendition-<int:index>.json", downloads.rendition, name="exchange-rendition"),
    path(EXCHANGE + "request.json", downloads.request_body, name="exchange-request"),
    path(EXCHANGE + "response.ndjson", downloads.response_chunks, name="exchange-response"),
]
